-- Where in the journal an event was dropped, so that its place in the session can be shown.

BEGIN IMMEDIATE;

ALTER TABLE edits ADD COLUMN seq INTEGER;
CREATE INDEX edits_dropped ON edits (session, seq) WHERE seq IS NOT NULL;

DROP VIEW edit_rows;
CREATE VIEW edit_rows AS
SELECT id, session, run, gate, agent, tool, call, event, action, actor, at, before, after, seq
FROM edits;

PRAGMA user_version = 11;
COMMIT;
