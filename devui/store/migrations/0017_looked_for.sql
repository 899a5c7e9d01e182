-- What every page looks for: the events of an invocation, and the runs that did not simply finish.

BEGIN IMMEDIATE;

CREATE INDEX events_invocation ON events (session, invocation_id);
CREATE INDEX runs_cut_off ON runs (session, seq)
    WHERE status IN ('failed', 'stopped', 'interrupted');

PRAGMA user_version = 17;
COMMIT;
