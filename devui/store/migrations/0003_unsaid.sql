-- What a run was about to put into the session and may not have: shown, so that nothing is lost.

BEGIN IMMEDIATE;

-- The user's message as JSON, until the event that holds it is committed.
ALTER TABLE runs ADD COLUMN message TEXT;
-- What agents had streamed of answers that the end of the run cut off, as JSON.
ALTER TABLE runs ADD COLUMN unfinished TEXT;

DROP VIEW run_rows;
CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished FROM runs;

PRAGMA user_version = 3;
COMMIT;
