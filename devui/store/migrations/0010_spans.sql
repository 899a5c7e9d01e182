-- What agents did: runs of agents, calls of models and tools, what was sent and what came back.

BEGIN IMMEDIATE;

-- Requests to models share most of what they say: each piece is kept once a session.
CREATE TABLE pieces (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    name    TEXT NOT NULL, -- a hash of the data
    data    TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT;

CREATE TABLE spans (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    run     TEXT NOT NULL,
    number  INTEGER NOT NULL,
    parent  INTEGER, -- the number of the span around it, in the same run
    type    TEXT NOT NULL CHECK (type IN ('agent', 'model', 'tool')),
    name    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    branch  TEXT,
    call    TEXT,
    event   INTEGER, -- the number of the event that came of it
    began   REAL NOT NULL,
    seconds REAL, -- null while it goes on, and if the run ended without a word of it
    first   REAL,
    error   TEXT,
    sent    TEXT, -- arguments of a tool; of a model the names of the pieces, in order
    result  TEXT,
    UNIQUE (run, number)
) STRICT;
CREATE INDEX spans_session ON spans (session, id);
CREATE INDEX spans_event ON spans (session, event);

-- Without the bodies, which may be large.
CREATE VIEW span_rows AS
SELECT id, session, run, number, parent, type, name, agent, branch, call, event, began, seconds,
       first, error
FROM spans;

PRAGMA user_version = 10;
COMMIT;
