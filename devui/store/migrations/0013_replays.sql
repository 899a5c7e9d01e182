-- What runs were asked to do, what tools changed, and what came of executing a run again.

BEGIN IMMEDIATE;

ALTER TABLE spans ADD COLUMN effects TEXT; -- what a tool set in its actions

-- As the run was asked for; its first event may hold what plugins made of the message.
CREATE TABLE starts (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT;

-- `source` is the recorded run, which may have been deleted since.
CREATE TABLE replays (
    run        TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    source     TEXT NOT NULL,
    live_tools INTEGER NOT NULL CHECK (live_tools IN (0, 1)),
    verdict    TEXT -- null until the replay has ended
) STRICT;

PRAGMA user_version = 13;
COMMIT;
