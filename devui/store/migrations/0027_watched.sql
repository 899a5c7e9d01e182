-- State keys that people keep in sight, app by app.

BEGIN IMMEDIATE;

CREATE TABLE watched_keys (
    app TEXT NOT NULL,
    key TEXT NOT NULL, -- with its prefix
    at  REAL NOT NULL,
    PRIMARY KEY (app, key)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 27;
COMMIT;
