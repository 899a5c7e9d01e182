-- The engine that executed a run, as JSON {name, version}: a test of the run needs the same one.

BEGIN IMMEDIATE;

ALTER TABLE starts ADD COLUMN engine TEXT; -- null of runs from before

PRAGMA user_version = 30;
COMMIT;
