-- How often the agent had begun something when a person changed what was held: that tells which of
-- several equal calls it was, where no event does.

BEGIN IMMEDIATE;

ALTER TABLE edits ADD COLUMN turn INTEGER;

DROP VIEW edit_rows;
CREATE VIEW edit_rows AS
SELECT id, session, run, gate, agent, tool, call, event, action, actor, at, before, after, turn, seq
FROM edits;

PRAGMA user_version = 20;
COMMIT;
