-- Spans of agents that ran elsewhere, as they were received; a session is made of each trace anew.

BEGIN IMMEDIATE;

CREATE TABLE received_spans (
    trace   TEXT NOT NULL,
    span    TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    data    TEXT NOT NULL,
    PRIMARY KEY (session, trace, span)
) STRICT, WITHOUT ROWID;
CREATE INDEX received_spans_trace ON received_spans (trace);

PRAGMA user_version = 24;
COMMIT;
