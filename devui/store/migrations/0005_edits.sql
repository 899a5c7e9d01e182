-- What people changed of what was held: before and after, for ever.

BEGIN IMMEDIATE;

CREATE TABLE edits (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    run     TEXT NOT NULL,
    gate    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    tool    TEXT,
    call    TEXT,
    event   TEXT,
    action  TEXT NOT NULL,
    actor   TEXT NOT NULL,
    at      REAL NOT NULL,
    before  TEXT NOT NULL,
    after   TEXT NOT NULL
) STRICT;
CREATE INDEX edits_session ON edits (session, id);

CREATE VIEW edit_rows AS
SELECT id, session, run, gate, agent, tool, call, event, action, actor, at, before, after FROM edits;

PRAGMA user_version = 5;
COMMIT;
