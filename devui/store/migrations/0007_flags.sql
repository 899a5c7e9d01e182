-- Who switched which breakpoint on or off for himself; for everybody else its own `enabled` counts.

BEGIN IMMEDIATE;

CREATE TABLE flags (
    breakpoint INTEGER NOT NULL REFERENCES breakpoints (id) ON DELETE CASCADE,
    user       TEXT NOT NULL,
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    PRIMARY KEY (breakpoint, user)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 7;
COMMIT;
