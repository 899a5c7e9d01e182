-- Short labels that people put on sessions.

BEGIN IMMEDIATE;

-- `folded` is the name for comparisons: names that differ only in case are the same tag.
CREATE TABLE tags (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    folded  TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (session, folded)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_named ON tags (folded, session);

PRAGMA user_version = 34;
COMMIT;
