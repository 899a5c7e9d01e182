-- What people say about sessions and their events, and where sessions from other journals come from.

BEGIN IMMEDIATE;

-- `number` is the event's; 0 is the session as a whole.
CREATE TABLE notes (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    text    TEXT NOT NULL,
    starred INTEGER NOT NULL CHECK (starred IN (0, 1)),
    actor   TEXT NOT NULL,
    at      REAL NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_starred ON notes (session) WHERE number = 0 AND starred = 1;

CREATE VIEW note_rows AS SELECT session, number, text, starred, actor, at FROM notes;

-- Imported sessions are read only. `data` is what their bundle says of them; opaque to the store.
CREATE TABLE imports (
    session INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    data    TEXT NOT NULL,
    created REAL NOT NULL
) STRICT;

PRAGMA user_version = 12;
COMMIT;
