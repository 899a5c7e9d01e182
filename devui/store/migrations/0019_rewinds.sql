-- Which events take the session back, and to before which one: what they took back counts no more.

BEGIN IMMEDIATE;

-- `first` is the first event of the invocation that was named; `number` itself if there is none.
CREATE TABLE rewinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

INSERT INTO rewinds (session, number, first)
SELECT session, number, coalesce((
    SELECT min(earlier.number) FROM events AS earlier
    WHERE earlier.session = events.session AND earlier.number < events.number
        AND earlier.invocation_id = json_extract(events.data, '$.actions.rewindBeforeInvocationId')
), number)
FROM events
WHERE instr(data, '"rewindBeforeInvocationId"') > 0 AND json_valid(data)
    AND json_extract(data, '$.actions.rewindBeforeInvocationId') IS NOT NULL;

PRAGMA user_version = 19;
COMMIT;
