-- What a person says that a tool's calls do to the world; it comes before what the code says.

BEGIN IMMEDIATE;

CREATE TABLE tool_effects (
    app    TEXT NOT NULL,
    tool   TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('read_only', 'idempotent', 'effects')),
    actor  TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (app, tool)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 14;
COMMIT;
