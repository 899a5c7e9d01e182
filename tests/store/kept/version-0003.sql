PRAGMA application_id = 1685484905;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
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
INSERT INTO "artifacts" VALUES(1,1,'a.txt',0,'text/plain',5,NULL,1.795382330826028347e+09,14,'first',NULL);
INSERT INTO "artifacts" VALUES(2,1,'a.txt',1,'text/plain',6,NULL,1.79538233087162637712e+09,15,'second',NULL);
INSERT INTO "artifacts" VALUES(3,4,'a.txt',0,'text/plain',5,NULL,1.79538233176960444455e+09,29,'first',NULL);
INSERT INTO "artifacts" VALUES(4,4,'a.txt',1,'text/plain',6,NULL,1.79538233181491088869e+09,30,'second',NULL);
CREATE TABLE chunks (
    position INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    run      TEXT,
    data     TEXT NOT NULL
) STRICT;
INSERT INTO "chunks" VALUES(1,1,'e1',NULL,'{}');
INSERT INTO "chunks" VALUES(2,1,'e4',NULL,'{}');
INSERT INTO "chunks" VALUES(3,2,'e1',NULL,'{}');
INSERT INTO "chunks" VALUES(4,2,'e4',NULL,'{}');
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
INSERT INTO "events" VALUES(2,1,1,NULL,'e1','i1','agent',NULL,1.0,'text',0,'{}',1,29,'{"id": "e1", "text": "hello"}');
INSERT INTO "events" VALUES(3,1,2,NULL,'e2','i1','agent',NULL,2.0,'text',0,'{}',0,29,'{"id": "e2", "text": "hello"}');
INSERT INTO "events" VALUES(4,1,3,NULL,'e3','i1','agent',NULL,3.0,'text',0,'{}',0,29,'{"id": "e3", "text": "hello"}');
INSERT INTO "events" VALUES(5,1,4,NULL,'e4','i1','agent',NULL,4.0,'text',0,'{}',1,29,'{"id": "e4", "text": "hello"}');
INSERT INTO "events" VALUES(6,1,5,NULL,'e5','i1','agent',NULL,5.0,'text',0,'{}',0,29,'{"id": "e5", "text": "hello"}');
INSERT INTO "events" VALUES(7,1,6,NULL,'e6','i1','agent',NULL,6.0,'text',0,'{}',0,29,'{"id": "e6", "text": "hello"}');
INSERT INTO "events" VALUES(8,1,7,NULL,'e7','i1','agent',NULL,7.0,'text',0,'{}',0,29,'{"id": "e7", "text": "hello"}');
INSERT INTO "events" VALUES(9,1,8,NULL,'e8','i1','agent',NULL,8.0,'text',0,'{}',0,29,'{"id": "e8", "text": "hello"}');
INSERT INTO "events" VALUES(10,1,9,NULL,'e9','i1','agent',NULL,9.0,'text',0,'{}',0,29,'{"id": "e9", "text": "hello"}');
INSERT INTO "events" VALUES(11,1,10,NULL,'gone','i1','agent',NULL,1.0,'text',0,'{}',0,31,'{"id": "gone", "text": "hello"}');
INSERT INTO "events" VALUES(17,2,1,NULL,'e1','i1','agent',NULL,1.0,'text',0,'{}',1,29,'{"id": "e1", "text": "hello"}');
INSERT INTO "events" VALUES(18,2,2,NULL,'e2','i1','agent',NULL,2.0,'text',0,'{}',0,29,'{"id": "e2", "text": "hello"}');
INSERT INTO "events" VALUES(19,2,3,NULL,'e3','i1','agent',NULL,3.0,'text',0,'{}',0,29,'{"id": "e3", "text": "hello"}');
INSERT INTO "events" VALUES(20,2,4,NULL,'e4','i1','agent',NULL,4.0,'text',0,'{}',1,29,'{"id": "e4", "text": "hello"}');
INSERT INTO "events" VALUES(21,2,5,NULL,'e5','i1','agent',NULL,5.0,'text',0,'{}',0,29,'{"id": "e5", "text": "hello"}');
INSERT INTO "events" VALUES(22,2,6,NULL,'e6','i1','agent',NULL,6.0,'text',0,'{}',0,29,'{"id": "e6", "text": "hello"}');
INSERT INTO "events" VALUES(23,2,7,NULL,'e7','i1','agent',NULL,7.0,'text',0,'{}',0,29,'{"id": "e7", "text": "hello"}');
INSERT INTO "events" VALUES(24,2,8,NULL,'e8','i1','agent',NULL,8.0,'text',0,'{}',0,29,'{"id": "e8", "text": "hello"}');
INSERT INTO "events" VALUES(25,2,9,NULL,'e9','i1','agent',NULL,9.0,'text',0,'{}',0,29,'{"id": "e9", "text": "hello"}');
INSERT INTO "events" VALUES(26,2,10,NULL,'gone','i1','agent',NULL,1.0,'text',0,'{}',0,31,'{"id": "gone", "text": "hello"}');
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO "journal" VALUES(1,'da0cfeb18e2ec1df',30);
CREATE TABLE kinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    events  INTEGER NOT NULL,
    PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "kinds" VALUES(1,'text',10);
INSERT INTO "kinds" VALUES(2,'text',10);
CREATE TABLE output (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    stream TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE positions (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
, message TEXT, unfinished TEXT) STRICT;
INSERT INTO "runs" VALUES('run of ada',1,'i1','done',NULL,1.79538233075133752823e+09,1.79538233079614520069e+09,13,NULL,NULL);
INSERT INTO "runs" VALUES('run of bob',2,'i1','done',NULL,1.79538233173692584037e+09,1.79538233175006532674e+09,28,NULL,NULL);
CREATE TABLE scopes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('session', 'user', 'app')),
    app  TEXT NOT NULL,
    user TEXT CHECK ((user IS NULL) = (kind = 'app'))
) STRICT;
INSERT INTO "scopes" VALUES(1,'session','travel','ada');
INSERT INTO "scopes" VALUES(2,'user','travel','ada');
INSERT INTO "scopes" VALUES(3,'app','travel',NULL);
INSERT INTO "scopes" VALUES(4,'session','travel','bob');
INSERT INTO "scopes" VALUES(5,'user','travel','bob');
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
INSERT INTO "sessions" VALUES(1,'travel','ada','s1',NULL,1.79538233029208469391e+09,1.0,11,10,0,1,1,2,3);
INSERT INTO "sessions" VALUES(2,'travel','bob','s1',NULL,1.79538233119646477697e+09,1.0,26,10,0,16,4,5,3);
CREATE TABLE writes (
    seq   INTEGER NOT NULL,
    scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (seq, scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "writes" VALUES(1,1,'n','0');
INSERT INTO "writes" VALUES(1,2,'name','"ada"');
INSERT INTO "writes" VALUES(2,1,'n','1');
INSERT INTO "writes" VALUES(2,3,'rate','2');
INSERT INTO "writes" VALUES(3,1,'n','1');
INSERT INTO "writes" VALUES(3,3,'rate','2');
INSERT INTO "writes" VALUES(4,1,'n','1');
INSERT INTO "writes" VALUES(4,3,'rate','2');
INSERT INTO "writes" VALUES(5,1,'n','1');
INSERT INTO "writes" VALUES(5,3,'rate','2');
INSERT INTO "writes" VALUES(6,1,'n','1');
INSERT INTO "writes" VALUES(6,3,'rate','2');
INSERT INTO "writes" VALUES(7,1,'n','1');
INSERT INTO "writes" VALUES(7,3,'rate','2');
INSERT INTO "writes" VALUES(8,1,'n','1');
INSERT INTO "writes" VALUES(8,3,'rate','2');
INSERT INTO "writes" VALUES(9,1,'n','1');
INSERT INTO "writes" VALUES(9,3,'rate','2');
INSERT INTO "writes" VALUES(10,1,'n','1');
INSERT INTO "writes" VALUES(10,3,'rate','2');
INSERT INTO "writes" VALUES(11,1,'n','null');
INSERT INTO "writes" VALUES(16,4,'n','0');
INSERT INTO "writes" VALUES(16,5,'name','"bob"');
INSERT INTO "writes" VALUES(17,3,'rate','2');
INSERT INTO "writes" VALUES(17,4,'n','1');
INSERT INTO "writes" VALUES(18,3,'rate','2');
INSERT INTO "writes" VALUES(18,4,'n','1');
INSERT INTO "writes" VALUES(19,3,'rate','2');
INSERT INTO "writes" VALUES(19,4,'n','1');
INSERT INTO "writes" VALUES(20,3,'rate','2');
INSERT INTO "writes" VALUES(20,4,'n','1');
INSERT INTO "writes" VALUES(21,3,'rate','2');
INSERT INTO "writes" VALUES(21,4,'n','1');
INSERT INTO "writes" VALUES(22,3,'rate','2');
INSERT INTO "writes" VALUES(22,4,'n','1');
INSERT INTO "writes" VALUES(23,3,'rate','2');
INSERT INTO "writes" VALUES(23,4,'n','1');
INSERT INTO "writes" VALUES(24,3,'rate','2');
INSERT INTO "writes" VALUES(24,4,'n','1');
INSERT INTO "writes" VALUES(25,3,'rate','2');
INSERT INTO "writes" VALUES(25,4,'n','1');
INSERT INTO "writes" VALUES(26,4,'n','null');
CREATE UNIQUE INDEX scopes_user ON scopes (app, user) WHERE kind = 'user';
CREATE UNIQUE INDEX scopes_app ON scopes (app) WHERE kind = 'app';
CREATE INDEX sessions_recent ON sessions (app, seq, user);
CREATE INDEX sessions_newest ON sessions (seq);
CREATE UNIQUE INDEX sessions_own_scope ON sessions (own_scope);
CREATE INDEX events_session ON events (session, seq);
CREATE INDEX events_kind ON events (session, number, kind);
CREATE UNIQUE INDEX writes_key ON writes (scope, key, seq);
CREATE INDEX chunks_event ON chunks (session, event);
CREATE INDEX runs_session ON runs (session, seq);
CREATE UNIQUE INDEX runs_active ON runs (session) WHERE status IN ('running', 'stopping');
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
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished FROM runs;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('scopes',5);
INSERT INTO "sqlite_sequence" VALUES('sessions',2);
COMMIT;
