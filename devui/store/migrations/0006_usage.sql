-- What models counted, an answer a row, so that costs can be summed with whatever prices are known.
-- Events from before have none: what they cost is unknown.

BEGIN IMMEDIATE;

CREATE TABLE usage (
    session  INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    author   TEXT NOT NULL,
    model    TEXT NOT NULL,
    prompt   INTEGER NOT NULL,
    cached   INTEGER NOT NULL,
    output   INTEGER NOT NULL,
    thoughts INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 6;
COMMIT;
