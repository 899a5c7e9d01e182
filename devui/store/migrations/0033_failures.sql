-- A session's failures, for lists: few events are one, and only these are in the index.

BEGIN IMMEDIATE;

CREATE INDEX events_failed ON events (session, run, number)
WHERE kind = 'error' OR instr(summary, '"failed":true') > 0;

PRAGMA user_version = 33;
COMMIT;
