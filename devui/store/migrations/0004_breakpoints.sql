-- Breakpoints, kept for each application. `data` is opaque to the store; `version` counts changes.

BEGIN IMMEDIATE;

CREATE TABLE breakpoints (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    app     TEXT NOT NULL,
    version INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    hits    INTEGER NOT NULL DEFAULT 0,
    data    TEXT NOT NULL
) STRICT;
CREATE INDEX breakpoints_app ON breakpoints (app, id);

CREATE VIEW breakpoint_rows AS
SELECT id, app, version, enabled, hits, data FROM breakpoints;

PRAGMA user_version = 4;
COMMIT;
