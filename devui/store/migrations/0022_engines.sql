-- Which engine a person chose for an app; others run on that of the command line.

BEGIN IMMEDIATE;

CREATE TABLE app_engines (
    app    TEXT PRIMARY KEY,
    engine TEXT NOT NULL CHECK (engine IN ('auto', 'google-adk', 'devui')),
    actor  TEXT NOT NULL,
    at     REAL NOT NULL
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 22;
COMMIT;
