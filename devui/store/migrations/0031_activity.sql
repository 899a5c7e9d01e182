-- Lists of sessions go by last activity.

BEGIN IMMEDIATE;

DROP INDEX sessions_recent;
DROP INDEX sessions_newest;
-- `user` last: a list by application skims entries of other users without touching their rows.
CREATE INDEX sessions_active_in_app ON sessions (app, updated, seq, user);
CREATE INDEX sessions_active ON sessions (updated, seq);

PRAGMA user_version = 31;
COMMIT;
