PRAGMA application_id = 1685484905;
PRAGMA user_version = 34;
BEGIN TRANSACTION;
CREATE TABLE app_engines (
    app    TEXT PRIMARY KEY,
    engine TEXT NOT NULL CHECK (engine IN ('auto', 'google-adk', 'devui')),
    actor  TEXT NOT NULL,
    at     REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE "artifacts" (
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
INSERT INTO "artifacts" VALUES(1,1,'a.txt',0,'text/plain',5,NULL,1.79609527817916464799e+09,14,1);
INSERT INTO "artifacts" VALUES(2,1,'a.txt',1,'text/plain',6,NULL,1.79609527819077110285e+09,15,2);
INSERT INTO "artifacts" VALUES(3,4,'a.txt',0,'text/plain',5,NULL,1.79609527826275968548e+09,29,3);
INSERT INTO "artifacts" VALUES(4,4,'a.txt',1,'text/plain',6,NULL,1.79609527827354216577e+09,30,4);
CREATE TABLE breakpoints (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    app     TEXT NOT NULL,
    version INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    hits    INTEGER NOT NULL DEFAULT 0,
    data    TEXT NOT NULL
, actor TEXT) STRICT;
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
CREATE TABLE contents (
    id   INTEGER PRIMARY KEY,
    text TEXT,
    data BLOB,
    CHECK ((text IS NULL) <> (data IS NULL))
) STRICT;
INSERT INTO "contents" VALUES(1,'first',NULL);
INSERT INTO "contents" VALUES(2,'second',NULL);
INSERT INTO "contents" VALUES(3,'first',NULL);
INSERT INTO "contents" VALUES(4,'second',NULL);
CREATE TABLE edits (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    run     TEXT NOT NULL,
    gate    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    tool    TEXT,
    call    TEXT,
    event   TEXT,
    action  TEXT NOT NULL,
    actor   TEXT NOT NULL,
    at      REAL NOT NULL,
    before  TEXT NOT NULL,
    after   TEXT NOT NULL
, seq INTEGER, turn INTEGER) STRICT;
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
    data          TEXT NOT NULL, held REAL NOT NULL DEFAULT 0, checksum INTEGER, -- last, so that a page of rows never reads a large body
    UNIQUE (session, number),
    UNIQUE (session, id)
) STRICT;
INSERT INTO "events" VALUES(2,1,1,NULL,'e1','i1','agent',NULL,1.0,'text',0,'{}',1,29,'{"id": "e1", "text": "hello"}',0.0,3467006342);
INSERT INTO "events" VALUES(3,1,2,NULL,'e2','i1','agent',NULL,2.0,'text',0,'{}',0,29,'{"id": "e2", "text": "hello"}',0.0,1628380236);
INSERT INTO "events" VALUES(4,1,3,NULL,'e3','i1','agent',NULL,3.0,'text',0,'{}',0,29,'{"id": "e3", "text": "hello"}',0.0,73934602);
INSERT INTO "events" VALUES(5,1,4,NULL,'e4','i1','agent',NULL,4.0,'text',0,'{}',1,29,'{"id": "e4", "text": "hello"}',0.0,3844899225);
INSERT INTO "events" VALUES(6,1,5,NULL,'e5','i1','agent',NULL,5.0,'text',0,'{}',0,29,'{"id": "e5", "text": "hello"}',0.0,2152446687);
INSERT INTO "events" VALUES(7,1,6,NULL,'e6','i1','agent',NULL,6.0,'text',0,'{}',0,29,'{"id": "e6", "text": "hello"}',0.0,803403541);
INSERT INTO "events" VALUES(8,1,7,NULL,'e7','i1','agent',NULL,7.0,'text',0,'{}',0,29,'{"id": "e7", "text": "hello"}',0.0,1250282579);
INSERT INTO "events" VALUES(9,1,8,NULL,'e8','i1','agent',NULL,8.0,'text',0,'{}',0,29,'{"id": "e8", "text": "hello"}',0.0,907721842);
INSERT INTO "events" VALUES(10,1,9,NULL,'e9','i1','agent',NULL,9.0,'text',0,'{}',0,29,'{"id": "e9", "text": "hello"}',0.0,1400735540);
INSERT INTO "events" VALUES(11,1,10,NULL,'gone','i1','agent',NULL,1.0,'text',0,'{}',0,31,'{"id": "gone", "text": "hello"}',0.0,4212770749);
INSERT INTO "events" VALUES(17,2,1,NULL,'e1','i1','agent',NULL,1.0,'text',0,'{}',1,29,'{"id": "e1", "text": "hello"}',0.0,3467006342);
INSERT INTO "events" VALUES(18,2,2,NULL,'e2','i1','agent',NULL,2.0,'text',0,'{}',0,29,'{"id": "e2", "text": "hello"}',0.0,1628380236);
INSERT INTO "events" VALUES(19,2,3,NULL,'e3','i1','agent',NULL,3.0,'text',0,'{}',0,29,'{"id": "e3", "text": "hello"}',0.0,73934602);
INSERT INTO "events" VALUES(20,2,4,NULL,'e4','i1','agent',NULL,4.0,'text',0,'{}',1,29,'{"id": "e4", "text": "hello"}',0.0,3844899225);
INSERT INTO "events" VALUES(21,2,5,NULL,'e5','i1','agent',NULL,5.0,'text',0,'{}',0,29,'{"id": "e5", "text": "hello"}',0.0,2152446687);
INSERT INTO "events" VALUES(22,2,6,NULL,'e6','i1','agent',NULL,6.0,'text',0,'{}',0,29,'{"id": "e6", "text": "hello"}',0.0,803403541);
INSERT INTO "events" VALUES(23,2,7,NULL,'e7','i1','agent',NULL,7.0,'text',0,'{}',0,29,'{"id": "e7", "text": "hello"}',0.0,1250282579);
INSERT INTO "events" VALUES(24,2,8,NULL,'e8','i1','agent',NULL,8.0,'text',0,'{}',0,29,'{"id": "e8", "text": "hello"}',0.0,907721842);
INSERT INTO "events" VALUES(25,2,9,NULL,'e9','i1','agent',NULL,9.0,'text',0,'{}',0,29,'{"id": "e9", "text": "hello"}',0.0,1400735540);
INSERT INTO "events" VALUES(26,2,10,NULL,'gone','i1','agent',NULL,1.0,'text',0,'{}',0,31,'{"id": "gone", "text": "hello"}',0.0,4212770749);
CREATE TABLE flags (
    breakpoint INTEGER NOT NULL REFERENCES breakpoints (id) ON DELETE CASCADE,
    user       TEXT NOT NULL,
    enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    PRIMARY KEY (breakpoint, user)
) STRICT, WITHOUT ROWID;
CREATE TABLE forks (
    session    INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    parent     INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    note       TEXT,
    invocation TEXT,
    created    REAL NOT NULL
, actor TEXT) STRICT;
CREATE TABLE imports (
    session INTEGER PRIMARY KEY REFERENCES sessions (key) ON DELETE CASCADE,
    data    TEXT NOT NULL,
    created REAL NOT NULL
) STRICT;
CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id  TEXT NOT NULL,
    seq INTEGER NOT NULL
) STRICT;
INSERT INTO "journal" VALUES(1,'1d42ea03d1525555',30);
CREATE TABLE kinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    events  INTEGER NOT NULL,
    PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "kinds" VALUES(1,'text',10);
INSERT INTO "kinds" VALUES(2,'text',10);
CREATE TABLE notes (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    text    TEXT NOT NULL,
    starred INTEGER NOT NULL CHECK (starred IN (0, 1)),
    actor   TEXT NOT NULL,
    at      REAL NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE output (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    stream TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE "pieces" (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    name    TEXT NOT NULL, -- a hash of the data, one of its own in the session
    data    TEXT NOT NULL,
    UNIQUE (session, name)
) STRICT;
CREATE TABLE positions (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE queued (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    message TEXT NOT NULL, -- a Content as JSON
    options TEXT NOT NULL, -- how its run is to be, as JSON
    actor   TEXT NOT NULL,
    at      REAL NOT NULL
) STRICT;
CREATE TABLE received_spans (
    trace   TEXT NOT NULL,
    span    TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    data    TEXT NOT NULL,
    PRIMARY KEY (session, trace, span)
) STRICT, WITHOUT ROWID;
CREATE TABLE replays (
    run        TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    source     TEXT NOT NULL,
    live_tools INTEGER NOT NULL CHECK (live_tools IN (0, 1)),
    verdict    TEXT -- null until the replay has ended
) STRICT;
CREATE TABLE rewinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    first   INTEGER NOT NULL,
    PRIMARY KEY (session, number)
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
, message TEXT, unfinished TEXT, closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)), held REAL NOT NULL DEFAULT 0, actor TEXT, stopped_by TEXT) STRICT;
INSERT INTO "runs" VALUES('run of ada',1,'i1','done',NULL,1.79609527816313934321e+09,1.79609527817069292068e+09,13,NULL,NULL,0,0.0,NULL,NULL);
INSERT INTO "runs" VALUES('run of bob',2,'i1','done',NULL,1.79609527824247622489e+09,1.79609527825471830368e+09,28,NULL,NULL,0,0.0,NULL,NULL);
CREATE TABLE scopes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('session', 'user', 'app')),
    app  TEXT NOT NULL,
    user TEXT CHECK ((user IS NULL) = (kind = 'app'))
, private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1))) STRICT;
INSERT INTO "scopes" VALUES(1,'session','travel','ada',0);
INSERT INTO "scopes" VALUES(2,'user','travel','ada',0);
INSERT INTO "scopes" VALUES(3,'app','travel',NULL,0);
INSERT INTO "scopes" VALUES(4,'session','travel','bob',0);
INSERT INTO "scopes" VALUES(5,'user','travel','bob',0);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','search_index','search_index',0,'CREATE VIRTUAL TABLE search_index USING fts5 (
    place, said, agent, tool, key, kind, flag,
    content = ''search_texts'', content_rowid = ''seq'', tokenize = ''unicode61 remove_diacritics 0'',
    prefix = ''3'' -- longer beginnings of words have few words each
)');
CREATE TABLE 'search_index_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "search_index_config" VALUES('version',4);
CREATE TABLE 'search_index_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "search_index_data" VALUES(1,X'');
INSERT INTO "search_index_data" VALUES(10,X'00000000000000');
CREATE TABLE 'search_index_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'search_index_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE search_texts (
    seq   INTEGER PRIMARY KEY REFERENCES events (seq) ON DELETE CASCADE,
    place TEXT NOT NULL, -- the session, as a word
    said  TEXT NOT NULL,
    agent TEXT NOT NULL,
    tool  TEXT NOT NULL,
    key   TEXT NOT NULL,
    kind  TEXT NOT NULL,
    flag  TEXT NOT NULL
) STRICT;
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
INSERT INTO "sessions" VALUES(1,'travel','ada','s1',NULL,1.79609527810895371439e+09,1.0,11,10,0,1,1,2,3);
INSERT INTO "sessions" VALUES(2,'travel','bob','s1',NULL,1.79609527820672321314e+09,1.0,26,10,0,16,4,5,3);
CREATE TABLE spans (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    run     TEXT NOT NULL,
    number  INTEGER NOT NULL,
    parent  INTEGER, -- the number of the span around it, in the same run
    type    TEXT NOT NULL CHECK (type IN ('agent', 'model', 'tool')),
    name    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    branch  TEXT,
    call    TEXT,
    event   INTEGER, -- the number of the event that came of it
    began   REAL NOT NULL,
    seconds REAL, -- null while it goes on, and if the run ended without a word of it
    first   REAL,
    error   TEXT,
    sent    TEXT, -- arguments of a tool; of a model the names of the pieces, in order
    result  TEXT, effects TEXT, request TEXT,
    UNIQUE (run, number)
) STRICT;
CREATE TABLE starts (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
, engine TEXT) STRICT;
CREATE TABLE tags (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    folded  TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (session, folded)
) STRICT, WITHOUT ROWID;
CREATE TABLE tool_effects (
    app    TEXT NOT NULL,
    tool   TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('read_only', 'idempotent', 'effects')),
    actor  TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (app, tool)
) STRICT, WITHOUT ROWID;
CREATE TABLE trials (
    id      INTEGER PRIMARY KEY,
    app     TEXT NOT NULL,
    session INTEGER REFERENCES sessions (key) ON DELETE CASCADE,
    span    INTEGER,
    event   INTEGER,
    agent   TEXT NOT NULL,
    name    TEXT NOT NULL, -- of the tool, or of the model
    sent    TEXT NOT NULL,
    result  TEXT,
    error   TEXT,
    seconds REAL NOT NULL,
    actor   TEXT NOT NULL,
    at      REAL NOT NULL
) STRICT;
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
CREATE TABLE usage (
    session  INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    author   TEXT NOT NULL,
    model    TEXT NOT NULL,
    prompt   INTEGER NOT NULL,
    cached   INTEGER NOT NULL,
    output   INTEGER NOT NULL,
    thoughts INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE watched_keys (
    app TEXT NOT NULL,
    key TEXT NOT NULL, -- with its prefix
    at  REAL NOT NULL,
    PRIMARY KEY (app, key)
) STRICT, WITHOUT ROWID;
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
CREATE UNIQUE INDEX sessions_own_scope ON sessions (own_scope);
CREATE UNIQUE INDEX writes_key ON writes (scope, key, seq);
CREATE INDEX chunks_event ON chunks (session, event);
CREATE INDEX runs_session ON runs (session, seq);
CREATE UNIQUE INDEX runs_active ON runs (session) WHERE status IN ('running', 'stopping');
CREATE VIEW session_rows AS
SELECT key, app, user, id, title, created, updated, seq, events, tokens FROM sessions;
CREATE INDEX breakpoints_app ON breakpoints (app, id);
CREATE INDEX edits_session ON edits (session, id);
CREATE INDEX uncommitted_session ON uncommitted (session, run, number);
CREATE VIEW uncommitted_rows AS
SELECT uncommitted.run, uncommitted.number, uncommitted.session, uncommitted.data,
       carried.number AS event, found.number AS flagged
FROM uncommitted
LEFT JOIN events AS carried
       ON carried.session = uncommitted.session AND carried.id = uncommitted.event
LEFT JOIN events AS found
       ON found.session = uncommitted.session AND found.id = uncommitted.flagged;
CREATE INDEX forks_parent ON forks (parent, session);
CREATE UNIQUE INDEX scopes_user ON scopes (app, user) WHERE kind = 'user' AND private = 0;
CREATE UNIQUE INDEX scopes_app ON scopes (app) WHERE kind = 'app' AND private = 0;
CREATE INDEX artifacts_content ON artifacts (content);
CREATE TRIGGER artifacts_forgotten AFTER DELETE ON artifacts
WHEN NOT EXISTS (SELECT 1 FROM artifacts WHERE content = OLD.content)
BEGIN
    DELETE FROM contents WHERE id = OLD.content;
END;
CREATE INDEX spans_event ON spans (session, event);
CREATE VIEW span_rows AS
SELECT id, session, run, number, parent, type, name, agent, branch, call, event, began, seconds,
       first, error
FROM spans;
CREATE INDEX edits_dropped ON edits (session, seq) WHERE seq IS NOT NULL;
CREATE INDEX notes_starred ON notes (session) WHERE number = 0 AND starred = 1;
CREATE VIEW note_rows AS SELECT session, number, text, starred, actor, at FROM notes;
CREATE INDEX trials_session ON trials (session, id);
CREATE VIEW trial_rows AS
SELECT id, app, session, span, event, agent, name, sent, actor, result, error, seconds, at
FROM trials;
CREATE INDEX events_invocation ON events (session, invocation_id);
CREATE INDEX runs_cut_off ON runs (session, seq)
    WHERE status IN ('failed', 'stopped', 'interrupted');
CREATE INDEX events_calls ON events (session, invocation_id, quote(author) || quote(branch))
    WHERE instr(summary, '"calls":[') > 0;
CREATE VIEW edit_rows AS
SELECT id, session, run, gate, agent, tool, call, event, action, actor, at, before, after, turn, seq
FROM edits;
CREATE INDEX events_given ON events (seq)
WHERE author = 'user' AND instr(data, '"adk_request_credential"') > 0;
CREATE INDEX received_spans_trace ON received_spans (trace);
CREATE INDEX queued_session ON queued (session, id);
CREATE VIEW queued_rows AS SELECT id, session, message, options, actor, at FROM queued;
CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished, closed,
       actor, stopped_by
FROM runs;
CREATE VIEW fork_rows AS
SELECT session, parent, number, reason, note, invocation, created, actor FROM forks;
CREATE VIEW breakpoint_rows AS
SELECT id, app, version, enabled, hits, data, actor FROM breakpoints;
CREATE INDEX events_session ON events (session);
CREATE INDEX spans_session ON spans (session);
CREATE INDEX sessions_active_in_app ON sessions (app, updated, seq, user);
CREATE INDEX sessions_active ON sessions (updated, seq);
CREATE VIEW event_rows AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held,
       (SELECT started FROM runs WHERE runs.id = events.run) AS began
FROM events;
CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held,
       (SELECT started FROM runs WHERE runs.id = events.run) AS began, checksum, data
FROM events;
CREATE INDEX events_failed ON events (session, run, number)
WHERE kind = 'error' OR instr(summary, '"failed":true') > 0;
CREATE INDEX tags_named ON tags (folded, session);
PRAGMA writable_schema=OFF;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('scopes',5);
INSERT INTO "sqlite_sequence" VALUES('sessions',2);
INSERT INTO "sqlite_sequence" VALUES('breakpoints',0);
INSERT INTO "sqlite_sequence" VALUES('edits',0);
INSERT INTO "sqlite_sequence" VALUES('spans',0);
INSERT INTO "sqlite_sequence" VALUES('queued',0);
COMMIT;
