-- How long the debugger held runs: that is no time in which anything worked.

BEGIN IMMEDIATE;

-- Seconds between the event before and this one.
ALTER TABLE events ADD COLUMN held REAL NOT NULL DEFAULT 0;
-- Seconds of the whole run.
ALTER TABLE runs ADD COLUMN held REAL NOT NULL DEFAULT 0;

DROP VIEW event_rows;
CREATE VIEW event_rows AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held
FROM events;

DROP VIEW event_bodies;
CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held, data
FROM events;

PRAGMA user_version = 16;
COMMIT;
