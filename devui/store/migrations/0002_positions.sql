-- Where runs are held by the debugger: one row while something is held, so that after the end of
-- the server it can be told what was held and is lost.

BEGIN IMMEDIATE;

CREATE TABLE positions (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 2;
COMMIT;
