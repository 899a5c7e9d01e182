-- Where people gave what let an agent in: what leaves the server is to say nothing of it, whichever
-- session it is of, and nobody could look through every event for that.

BEGIN IMMEDIATE;

CREATE INDEX events_given ON events (seq)
WHERE author = 'user' AND instr(data, '"adk_request_credential"') > 0;

PRAGMA user_version = 21;
COMMIT;
