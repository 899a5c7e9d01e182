-- Messages that wait for the end of a session's run, in the order in which they are sent.

BEGIN IMMEDIATE;

CREATE TABLE queued (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    message TEXT NOT NULL, -- a Content as JSON
    options TEXT NOT NULL, -- how its run is to be, as JSON
    actor   TEXT NOT NULL,
    at      REAL NOT NULL
) STRICT;
CREATE INDEX queued_session ON queued (session, id);

CREATE VIEW queued_rows AS SELECT id, session, message, options, actor, at FROM queued;

PRAGMA user_version = 26;
COMMIT;
