-- Who started and stopped a run, forked a session, set a breakpoint: names as others see them.

BEGIN IMMEDIATE;

ALTER TABLE runs ADD COLUMN actor TEXT;
ALTER TABLE runs ADD COLUMN stopped_by TEXT;
ALTER TABLE forks ADD COLUMN actor TEXT;
ALTER TABLE breakpoints ADD COLUMN actor TEXT;

DROP VIEW run_rows;
CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished, closed,
       actor, stopped_by
FROM runs;

DROP VIEW fork_rows;
CREATE VIEW fork_rows AS
SELECT session, parent, number, reason, note, invocation, created, actor FROM forks;

DROP VIEW breakpoint_rows;
CREATE VIEW breakpoint_rows AS
SELECT id, app, version, enabled, hits, data, actor FROM breakpoints;

PRAGMA user_version = 28;
COMMIT;
