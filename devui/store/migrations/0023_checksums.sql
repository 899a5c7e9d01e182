-- What tells an event that was damaged on the disk from one that was not. Events of before have none.

BEGIN IMMEDIATE;

-- CRC-32 of `data` in UTF-8.
ALTER TABLE events ADD COLUMN checksum INTEGER;

DROP VIEW event_bodies;
CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held, checksum, data
FROM events;

PRAGMA user_version = 23;
COMMIT;
