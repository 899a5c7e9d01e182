-- What runs wrote to their state before an event carried it, and who read it meanwhile.

BEGIN IMMEDIATE;

CREATE TABLE uncommitted (
    run     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    -- Ids of events that were about to be committed: one that never was is not in the session.
    event   TEXT,
    flagged TEXT,
    data    TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX uncommitted_session ON uncommitted (session, run, number);

CREATE VIEW uncommitted_rows AS
SELECT uncommitted.run, uncommitted.number, uncommitted.session, uncommitted.data,
       carried.number AS event, found.number AS flagged
FROM uncommitted
LEFT JOIN events AS carried
       ON carried.session = uncommitted.session AND carried.id = uncommitted.event
LEFT JOIN events AS found
       ON found.session = uncommitted.session AND found.id = uncommitted.flagged;

PRAGMA user_version = 8;
COMMIT;
