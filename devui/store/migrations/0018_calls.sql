-- Where each agent, on each branch of an invocation, called tools last: a run that was cut off may
-- have left these calls without a result.

BEGIN IMMEDIATE;

CREATE INDEX events_calls ON events (session, invocation_id, quote(author) || quote(branch))
    WHERE instr(summary, '"calls":[') > 0;

PRAGMA user_version = 18;
COMMIT;
