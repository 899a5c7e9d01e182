-- Forks: sessions that begin with what another one had committed up to some event.

BEGIN IMMEDIATE;

-- `parent` and `number` say where; no foreign key, since a fork outlives its parent. `invocation` is
-- the one that the fork cut through, until somebody resumes or closes it.
CREATE TABLE forks (
    session    INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    parent     INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    note       TEXT,
    invocation TEXT,
    created    REAL NOT NULL
) STRICT;
CREATE INDEX forks_parent ON forks (parent, session);

CREATE VIEW fork_rows AS
SELECT session, parent, number, reason, note, invocation, created FROM forks;

-- A fork has a user's and an application's scope of its own, so that what it writes changes nothing
-- elsewhere, and what others write since does not change it.
ALTER TABLE scopes ADD COLUMN private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1));
DROP INDEX scopes_user;
DROP INDEX scopes_app;
CREATE UNIQUE INDEX scopes_user ON scopes (app, user) WHERE kind = 'user' AND private = 0;
CREATE UNIQUE INDEX scopes_app ON scopes (app) WHERE kind = 'app' AND private = 0;

-- What is in a file apart from its name and version, so that forks name the same content.
CREATE TABLE contents (
    id   INTEGER PRIMARY KEY,
    text TEXT,
    data BLOB,
    CHECK ((text IS NULL) <> (data IS NULL))
) STRICT;
INSERT INTO contents (id, text, data) SELECT id, text, data FROM artifacts;

CREATE TABLE files (
    id              INTEGER PRIMARY KEY,
    scope           INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    version         INTEGER NOT NULL,
    mime            TEXT,
    size            INTEGER NOT NULL,
    custom_metadata TEXT,
    created         REAL NOT NULL,
    seq             INTEGER NOT NULL,
    content         INTEGER NOT NULL REFERENCES contents (id),
    UNIQUE (scope, name, version)
) STRICT;
INSERT INTO files (id, scope, name, version, mime, size, custom_metadata, created, seq, content)
SELECT id, scope, name, version, mime, size, custom_metadata, created, seq, id FROM artifacts;
DROP TABLE artifacts;
ALTER TABLE files RENAME TO artifacts;
CREATE INDEX artifacts_content ON artifacts (content);
CREATE TRIGGER artifacts_forgotten AFTER DELETE ON artifacts
WHEN NOT EXISTS (SELECT 1 FROM artifacts WHERE content = OLD.content)
BEGIN
    DELETE FROM contents WHERE id = OLD.content;
END;

-- An end that nobody wants to be asked about any more.
ALTER TABLE runs ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));

DROP VIEW run_rows;
CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished, closed
FROM runs;

PRAGMA user_version = 9;
COMMIT;
