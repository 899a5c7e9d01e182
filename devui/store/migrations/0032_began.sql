-- When the run of an event began: its first event has no other to count its time from.

BEGIN IMMEDIATE;

DROP VIEW event_rows;
CREATE VIEW event_rows AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held,
       (SELECT started FROM runs WHERE runs.id = events.run) AS began
FROM events;

DROP VIEW event_bodies;
CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held,
       (SELECT started FROM runs WHERE runs.id = events.run) AS began, checksum, data
FROM events;

PRAGMA user_version = 32;
COMMIT;
