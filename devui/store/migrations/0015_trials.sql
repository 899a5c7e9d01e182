-- Calls of tools and models that somebody tried by themselves; no run, and no event came of them.

BEGIN IMMEDIATE;

-- `span` is the recorded model call that was tried again, `event` the one whose state a tool found.
CREATE TABLE trials (
    id      INTEGER PRIMARY KEY,
    app     TEXT NOT NULL,
    session INTEGER REFERENCES sessions (key) ON DELETE CASCADE,
    span    INTEGER,
    event   INTEGER,
    agent   TEXT NOT NULL,
    name    TEXT NOT NULL, -- of the tool, or of the model
    sent    TEXT NOT NULL,
    result  TEXT,
    error   TEXT,
    seconds REAL NOT NULL,
    actor   TEXT NOT NULL,
    at      REAL NOT NULL
) STRICT;
CREATE INDEX trials_session ON trials (session, id);

CREATE VIEW trial_rows AS
SELECT id, app, session, span, event, agent, name, sent, actor, result, error, seconds, at
FROM trials;

PRAGMA user_version = 15;
COMMIT;
