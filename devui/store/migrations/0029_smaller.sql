-- Less on the disk of each turn: requests by ranges of numbers, and fewer bytes in indexes.

BEGIN IMMEDIATE;

-- A request is kept as the numbers of its pieces, most of which follow each other. Requests of
-- before stay in `sent`, by the names of their pieces.
CREATE TABLE numbered_pieces (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    name    TEXT NOT NULL, -- a hash of the data, one of its own in the session
    data    TEXT NOT NULL,
    UNIQUE (session, name)
) STRICT;
INSERT INTO numbered_pieces (session, name, data)
SELECT session, name, data FROM pieces ORDER BY rowid;
DROP TABLE pieces;
ALTER TABLE numbered_pieces RENAME TO pieces;

ALTER TABLE spans ADD COLUMN request TEXT; -- of a model call

-- Nothing was looked for by it that another index doesn't find.
DROP INDEX events_kind;
-- SQLite adds the rowid to an index: these are in the order of `seq` and `id` without naming them.
DROP INDEX events_session;
CREATE INDEX events_session ON events (session);
DROP INDEX spans_session;
CREATE INDEX spans_session ON spans (session);

PRAGMA user_version = 29;
COMMIT;
