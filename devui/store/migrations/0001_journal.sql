-- The journal: one counter for every change, sessions, their events, and state by scope.

BEGIN IMMEDIATE;

-- One row. `id` is made once and tells this journal from any other; `seq` is the last one given.
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO journal (one, id, seq) VALUES (1, lower(hex(randomblob(8))), 0);

-- Who owns state keys and artifacts. A user's and an application's scope outlive every session.
CREATE TABLE scopes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('session', 'user', 'app')),
    app  TEXT NOT NULL,
    user TEXT CHECK ((user IS NULL) = (kind = 'app'))
) STRICT;
CREATE UNIQUE INDEX scopes_user ON scopes (app, user) WHERE kind = 'user';
CREATE UNIQUE INDEX scopes_app ON scopes (app) WHERE kind = 'app';

CREATE TABLE sessions (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    app        TEXT NOT NULL,
    user       TEXT NOT NULL,
    id         TEXT NOT NULL,
    title      TEXT,
    created    REAL NOT NULL,
    updated    REAL NOT NULL,
    seq        INTEGER NOT NULL,
    events     INTEGER NOT NULL DEFAULT 0,
    tokens     INTEGER NOT NULL DEFAULT 0,
    born       INTEGER NOT NULL, -- the seq of its creation, under which its initial state is written
    own_scope  INTEGER NOT NULL REFERENCES scopes (id),
    user_scope INTEGER NOT NULL, -- no foreign keys on these two: such scopes are never deleted,
    app_scope  INTEGER NOT NULL, -- and checking would scan all sessions
    UNIQUE (app, user, id)
) STRICT;
-- `user` last: a list by application skims entries of other users without touching their rows.
CREATE INDEX sessions_recent ON sessions (app, seq, user);
CREATE INDEX sessions_newest ON sessions (seq);
CREATE UNIQUE INDEX sessions_own_scope ON sessions (own_scope);

CREATE TABLE events (
    seq           INTEGER PRIMARY KEY,
    session       INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number        INTEGER NOT NULL,
    run           TEXT,
    id            TEXT NOT NULL,
    invocation_id TEXT NOT NULL,
    author        TEXT NOT NULL,
    branch        TEXT,
    timestamp     REAL NOT NULL,
    kind          TEXT NOT NULL,
    final         INTEGER NOT NULL CHECK (final IN (0, 1)),
    summary       TEXT NOT NULL,
    chunks        INTEGER NOT NULL,
    size          INTEGER NOT NULL,
    data          TEXT NOT NULL, -- last, so that a page of rows never reads a large body
    UNIQUE (session, number),
    UNIQUE (session, id)
) STRICT;
CREATE INDEX events_session ON events (session, seq);
CREATE INDEX events_kind ON events (session, number, kind);

-- How many events of each kind a session holds, kept with each append so that totals cost nothing.
CREATE TABLE kinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    events  INTEGER NOT NULL,
    PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;

-- Every write of every state key, for ever: the state as of a seq is, per key, the latest write
-- not after it. There is no snapshot beside it that could disagree.
CREATE TABLE writes (
    seq   INTEGER NOT NULL,
    scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (seq, scope, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX writes_key ON writes (scope, key, seq);

-- Streamed pieces of an answer, apart from history: recorded under the id of the event they become.
CREATE TABLE chunks (
    position INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    run      TEXT,
    data     TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_event ON chunks (session, event);

CREATE TABLE runs (
    id            TEXT PRIMARY KEY,
    session       INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    invocation_id TEXT,
    status        TEXT NOT NULL CHECK (
        status IN ('running', 'stopping', 'done', 'failed', 'stopped', 'interrupted')
    ),
    error         TEXT,
    started       REAL NOT NULL,
    ended         REAL CHECK ((ended IS NULL) = (status IN ('running', 'stopping'))),
    seq           INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_session ON runs (session, seq);
-- The lease: a session has at most one run that may write.
CREATE UNIQUE INDEX runs_active ON runs (session) WHERE status IN ('running', 'stopping');

CREATE TABLE output (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    stream TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
    id              INTEGER PRIMARY KEY,
    scope           INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    version         INTEGER NOT NULL,
    mime            TEXT,
    size            INTEGER NOT NULL,
    custom_metadata TEXT,
    created         REAL NOT NULL,
    seq             INTEGER NOT NULL,
    text            TEXT,
    data            BLOB,
    UNIQUE (scope, name, version),
    CHECK ((text IS NULL) <> (data IS NULL))
) STRICT;

-- What the store hands out: one view for each row type in rows.py, columns in the same order.
CREATE VIEW session_rows AS
SELECT key, app, user, id, title, created, updated, seq, events, tokens FROM sessions;

CREATE VIEW event_rows AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size
FROM events;

CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, data
FROM events;

CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq FROM runs;

PRAGMA user_version = 1;
COMMIT;
