PRAGMA application_id = 1685484905;
PRAGMA user_version = 24;
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
CREATE TABLE breakpoints (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    app     TEXT NOT NULL,
    version INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    hits    INTEGER NOT NULL DEFAULT 0,
    data    TEXT NOT NULL
) STRICT;
INSERT INTO "breakpoints" VALUES(1,'travel',1,1,0,'{"on": "tool", "name": "search_flights", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(2,'travel',1,1,0,'{"on": "tool", "name": "book_*", "agent": "*", "when": "before", "condition": "args.city == ''Oslo''", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(3,'travel',1,1,0,'{"on": "tool", "name": "search_flights", "agent": "*", "when": "after", "condition": "", "hit": "", "log": "{tool} in {agent} gave {result}"}');
INSERT INTO "breakpoints" VALUES(4,'travel',1,1,0,'{"on": "event", "name": "call", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(5,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "\"book_hotel\" in tools", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(6,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "final", "hit": "", "log": "{agent}: {text}"}');
INSERT INTO "breakpoints" VALUES(7,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "book*", "when": "before", "condition": "kind in [''text'', ''error''] and not final", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(8,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "branch like ''*left''", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(9,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "''far needle'' in lower(held.content.parts[0].text)", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(10,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "tool == ''pay'' or transfer == ''booker''", "hit": ">= 2", "log": ""}');
INSERT INTO "breakpoints" VALUES(11,'travel',1,1,0,'{"on": "state", "name": "retries", "agent": "*", "when": "before", "condition": "new > old", "hit": "", "log": "{key} went from {old} to {new}"}');
INSERT INTO "breakpoints" VALUES(12,'travel',1,1,0,'{"on": "state", "name": "user:*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(13,'travel',1,1,0,'{"on": "state", "name": "key*", "agent": "*", "when": "before", "condition": "new >= 10", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(14,'travel',1,1,0,'{"on": "state", "name": "bill", "agent": "*", "when": "before", "condition": "new < 0", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(15,'travel',1,1,0,'{"on": "state", "name": "*", "agent": "*", "when": "after", "condition": "state.retries == new", "hit": "% 2", "log": ""}');
INSERT INTO "breakpoints" VALUES(16,'travel',1,1,0,'{"on": "state", "name": "retries", "agent": "*", "when": "before", "condition": "exists(delta[\"flights\"]) and kind == \"result\"", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(17,'travel',1,1,0,'{"on": "model", "name": "gemini*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(18,'travel',1,1,0,'{"on": "model", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(19,'travel',1,1,0,'{"on": "model", "name": "*", "agent": "planner", "when": "after", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(20,'travel',1,1,0,'{"on": "agent", "name": "planner", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(21,'travel',1,1,0,'{"on": "agent", "name": "book*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(22,'travel',1,1,0,'{"on": "agent", "name": "planner", "agent": "*", "when": "after", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(23,'travel',1,1,0,'{"on": "transfer", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(24,'travel',1,1,0,'{"on": "transfer", "name": "booker", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(25,'travel',1,1,0,'{"on": "transfer", "name": "nobody", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(26,'travel',1,1,0,'{"on": "artifact", "name": "*.pdf", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(27,'travel',1,1,0,'{"on": "artifact", "name": "user:*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": "{artifacts}"}');
INSERT INTO "breakpoints" VALUES(28,'travel',1,1,0,'{"on": "escalate", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(29,'travel',1,1,0,'{"on": "final", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(30,'travel',1,1,0,'{"on": "final", "name": "*", "agent": "looper", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(31,'travel',1,1,0,'{"on": "human", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(32,'travel',1,1,0,'{"on": "error", "name": "*", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(33,'travel',1,1,0,'{"on": "error", "name": "LIMIT", "agent": "*", "when": "before", "condition": "", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(34,'travel',1,1,0,'{"on": "error", "name": "*", "agent": "*", "when": "before", "condition": "error == null", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(35,'travel',1,1,0,'{"on": "budget", "name": "*", "agent": "*", "when": "before", "condition": "run.tokens > 1000", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(36,'travel',1,1,0,'{"on": "budget", "name": "*", "agent": "*", "when": "before", "condition": "run.repeats >= 2", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(37,'travel',1,1,0,'{"on": "budget", "name": "*", "agent": "*", "when": "before", "condition": "run.calls > 2 and run.seconds < 100", "hit": "", "log": "{run}"}');
INSERT INTO "breakpoints" VALUES(38,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "state[''user:name''] == ''Ada'' and kind == ''text''", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(39,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "after", "condition": "gate == ''after_commit'' and tokens > 40", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(40,'travel',1,1,0,'{"on": "event", "name": "c*", "agent": "*", "when": "before", "condition": "args.price > 100", "hit": "== 2", "log": ""}');
INSERT INTO "breakpoints" VALUES(41,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "*", "when": "before", "condition": "escalate or artifacts", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(42,'travel',1,1,0,'{"on": "event", "name": "result", "agent": "*", "when": "before", "condition": "len(tools) == 2 and result.error == ''sold out''", "hit": "", "log": ""}');
INSERT INTO "breakpoints" VALUES(43,'travel',1,1,0,'{"on": "event", "name": "*", "agent": "user", "when": "before", "condition": "", "hit": "", "log": "{text} {args} {delta} {tokens} {error}"}');
CREATE TABLE chunks (
    position INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    event    TEXT NOT NULL,
    run      TEXT,
    data     TEXT NOT NULL
) STRICT;
CREATE TABLE contents (
    id   INTEGER PRIMARY KEY,
    text TEXT,
    data BLOB,
    CHECK ((text IS NULL) <> (data IS NULL))
) STRICT;
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
INSERT INTO "events" VALUES(2,1,1,NULL,'e-1','i-r1','user',NULL,1000.75,'user',0,'{"kind":"user","text":"Fly me to Rome, please"}',0,153,'{"id": "e-1", "invocationId": "i-r1", "timestamp": 1000.75, "author": "user", "content": {"role": "user", "parts": [{"text": "Fly me to Rome, please"}]}}',0.0,3471581573);
INSERT INTO "events" VALUES(3,1,2,NULL,'e-2','i-r1','planner',NULL,1001.5,'call',0,'{"kind":"call","text":"search_flights(city=\"Rome\", price=120.5)","tokens":236,"calls":[{"id":"c-search_flights","name":"search_flights","args":"city=\"Rome\", price=120.5","long_running":false,"about":""}],"usage":{"model":"gemini-2.5-flash","prompt":226,"cached":0,"output":10,"thoughts":0}}',0,366,'{"id": "e-2", "invocationId": "i-r1", "timestamp": 1001.5, "author": "planner", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-search_flights", "name": "search_flights", "args": {"city": "Rome", "price": 120.5}}}]}, "usageMetadata": {"promptTokenCount": 226, "candidatesTokenCount": 10, "totalTokenCount": 236}, "modelVersion": "gemini-2.5-flash"}',0.0,1821564871);
INSERT INTO "events" VALUES(4,1,3,NULL,'e-3','i-r1','planner',NULL,1002.25,'result',0,'{"kind":"result","text":"search_flights → [\"AZ 1\", \"AZ 2\"]","state_keys":["flights","retries"],"state_count":2,"responses":[{"id":"c-search_flights","name":"search_flights","preview":"[\"AZ 1\", \"AZ 2\"]","failed":false}]}',0,302,'{"id": "e-3", "invocationId": "i-r1", "timestamp": 1002.25, "author": "planner", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-search_flights", "name": "search_flights", "response": {"result": ["AZ 1", "AZ 2"]}}}]}, "actions": {"stateDelta": {"flights": ["AZ 1"], "retries": 1}}}',0.0,852465858);
INSERT INTO "events" VALUES(5,1,4,NULL,'e-4','i-r1','planner',NULL,1003.0,'call',0,'{"kind":"call","text":"book_flight(city=\"Oslo\", to=[\"Oslo\", \"Rome\"]), book_hotel(stars=3)","tokens":1200,"calls":[{"id":"c-book_flight","name":"book_flight","args":"city=\"Oslo\", to=[\"Oslo\", \"Rome\"]","long_running":false,"about":""},{"id":"c-book_hotel","name":"book_hotel","args":"stars=3","long_running":false,"about":""}],"usage":{"model":"gemini-2.5-flash","prompt":1190,"cached":0,"output":10,"thoughts":0}}',0,456,'{"id": "e-4", "invocationId": "i-r1", "timestamp": 1003.0, "author": "planner", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-book_flight", "name": "book_flight", "args": {"city": "Oslo", "to": ["Oslo", "Rome"]}}}, {"functionCall": {"id": "c-book_hotel", "name": "book_hotel", "args": {"stars": 3}}}]}, "usageMetadata": {"promptTokenCount": 1190, "candidatesTokenCount": 10, "totalTokenCount": 1200}, "modelVersion": "gemini-2.5-flash"}',0.0,2826629206);
INSERT INTO "events" VALUES(6,1,5,NULL,'e-5','i-r1','planner',NULL,1005.75,'result',0,'{"kind":"result","text":"book_flight → {\"error\": \"sold out\"}, book_hotel → {\"id\": 7}","state_keys":["retries","bill"],"state_count":2,"responses":[{"id":"c-book_flight","name":"book_flight","preview":"{\"error\": \"sold out\"}","failed":true},{"id":"c-book_hotel","name":"book_hotel","preview":"{\"id\": 7}","failed":false}]}',0,373,'{"id": "e-5", "invocationId": "i-r1", "timestamp": 1005.75, "author": "planner", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-book_flight", "name": "book_flight", "response": {"error": "sold out"}}}, {"functionResponse": {"id": "c-book_hotel", "name": "book_hotel", "response": {"id": 7}}}]}, "actions": {"stateDelta": {"retries": 2, "bill": -3.5}}}',0.0,349323161);
INSERT INTO "events" VALUES(7,1,6,NULL,'e-6','i-r1','planner',NULL,1006.5,'thought',0,'{"kind":"thought","text":"Hm, let me think"}',0,167,'{"id": "e-6", "invocationId": "i-r1", "timestamp": 1006.5, "author": "planner", "content": {"role": "model", "parts": [{"text": "Hm, let me think", "thought": true}]}}',0.0,1606433510);
INSERT INTO "events" VALUES(8,1,7,NULL,'e-7','i-r1','planner',NULL,1007.25,'text',1,'{"kind":"text","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…","final":true,"tokens":900,"usage":{"model":"gemini-2.5-flash","prompt":890,"cached":0,"output":10,"thoughts":0}}',0,589,'{"id": "e-7", "invocationId": "i-r1", "timestamp": 1007.25, "author": "planner", "content": {"role": "model", "parts": [{"text": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx a far Needle in Köln"}]}, "usageMetadata": {"promptTokenCount": 890, "candidatesTokenCount": 10, "totalTokenCount": 900}, "modelVersion": "gemini-2.5-flash"}',0.0,2444061976);
INSERT INTO "events" VALUES(9,1,8,NULL,'e-8','i-r2','user',NULL,1008.0,'user',0,'{"kind":"user","text":"anything: else? (a == b)"}',0,154,'{"id": "e-8", "invocationId": "i-r2", "timestamp": 1008.0, "author": "user", "content": {"role": "user", "parts": [{"text": "anything: else? (a == b)"}]}}',0.0,748408509);
INSERT INTO "events" VALUES(10,1,9,NULL,'e-9','i-r2','planner',NULL,1008.75,'call',0,'{"kind":"call","text":"transfer_to_agent(agent_name=\"booker\")","calls":[{"id":"c-transfer_to_agent","name":"transfer_to_agent","args":"agent_name=\"booker\"","long_running":false,"about":""}]}',0,233,'{"id": "e-9", "invocationId": "i-r2", "timestamp": 1008.75, "author": "planner", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-transfer_to_agent", "name": "transfer_to_agent", "args": {"agent_name": "booker"}}}]}}',0.0,4171882284);
INSERT INTO "events" VALUES(11,1,10,NULL,'e-10','i-r2','planner',NULL,1011.5,'transfer',0,'{"kind":"transfer","text":"→ booker","responses":[{"id":"c-transfer_to_agent","name":"transfer_to_agent","preview":"null","failed":false}],"transfer_to":"booker"}',0,274,'{"id": "e-10", "invocationId": "i-r2", "timestamp": 1011.5, "author": "planner", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-transfer_to_agent", "name": "transfer_to_agent", "response": {"result": null}}}]}, "actions": {"transferToAgent": "booker"}}',0.0,3913520971);
INSERT INTO "events" VALUES(12,1,11,NULL,'e-11','i-r2','booker','root.left',1012.25,'text',1,'{"kind":"text","text":"left side","final":true,"tokens":20,"usage":{"model":"gemini-2.5-flash","prompt":10,"cached":0,"output":10,"thoughts":0}}',0,297,'{"id": "e-11", "invocationId": "i-r2", "timestamp": 1012.25, "author": "booker", "branch": "root.left", "content": {"role": "model", "parts": [{"text": "left side"}]}, "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}, "modelVersion": "gemini-2.5-flash"}',0.0,2363006587);
INSERT INTO "events" VALUES(13,1,12,NULL,'e-12','i-r2','booker','root.right',1013.0,'text',1,'{"kind":"text","text":"right side says parts","final":true,"state_keys":["key0","key1","key2","key3","key4","key5","key6","key7"],"state_count":13}',0,363,'{"id": "e-12", "invocationId": "i-r2", "timestamp": 1013.0, "author": "booker", "branch": "root.right", "content": {"role": "model", "parts": [{"text": "right side says parts"}]}, "actions": {"stateDelta": {"key0": 0, "key1": 1, "key2": 2, "key3": 3, "key4": 4, "key5": 5, "key6": 6, "key7": 7, "key8": 8, "key9": 9, "key10": 10, "key11": 11, "user:late": "on"}}}',0.0,1872212262);
INSERT INTO "events" VALUES(14,1,13,NULL,'e-13','i-r2','booker',NULL,1013.75,'state',0,'{"kind":"state","text":"user:name = \"Ada\", plan_a = {\"steps\": [1, 2]}","state_keys":["user:name","plan_a"],"state_count":2}',0,158,'{"id": "e-13", "invocationId": "i-r2", "timestamp": 1013.75, "author": "booker", "actions": {"stateDelta": {"user:name": "Ada", "plan_a": {"steps": [1, 2]}}}}',0.0,1572252930);
INSERT INTO "events" VALUES(15,1,14,NULL,'e-14','i-r2','user',NULL,1014.5,'state',0,'{"kind":"state","text":"bill = 80","state_keys":["bill"],"state_count":1}',0,118,'{"id": "e-14", "invocationId": "i-r2", "timestamp": 1014.5, "author": "user", "actions": {"stateDelta": {"bill": 80}}}',0.0,2771918557);
INSERT INTO "events" VALUES(16,1,15,NULL,'e-15','i-r2','user',NULL,1017.25,'state',1,'{"kind":"state","text":"bill = 81","final":true,"state_keys":["bill"],"state_count":1}',0,119,'{"id": "e-15", "invocationId": "i-r2", "timestamp": 1017.25, "author": "user", "actions": {"stateDelta": {"bill": 81}}}',0.0,2216770445);
INSERT INTO "events" VALUES(17,1,16,NULL,'e-16','i-r2','booker',NULL,1018.0,'artifact',0,'{"kind":"artifact","text":"saved ticket.pdf v0, user:map.png v2","artifacts":["ticket.pdf","user:map.png"]}',0,147,'{"id": "e-16", "invocationId": "i-r2", "timestamp": 1018.0, "author": "booker", "actions": {"artifactDelta": {"ticket.pdf": 0, "user:map.png": 2}}}',0.0,1650998688);
INSERT INTO "events" VALUES(18,1,17,NULL,'e-17','i-r2','looper',NULL,1018.75,'escalate',1,'{"kind":"escalate","text":"enough","final":true,"escalate":true}',0,172,'{"id": "e-17", "invocationId": "i-r2", "timestamp": 1018.75, "author": "looper", "actions": {"escalate": true}, "content": {"role": "model", "parts": [{"text": "enough"}]}}',0.0,164837014);
INSERT INTO "events" VALUES(19,1,18,NULL,'e-18','i-r3','user',NULL,1019.5,'user',0,'{"kind":"user","text":"pay"}',0,134,'{"id": "e-18", "invocationId": "i-r3", "timestamp": 1019.5, "author": "user", "content": {"role": "user", "parts": [{"text": "pay"}]}}',0.0,3365759487);
INSERT INTO "events" VALUES(20,1,19,NULL,'e-19','i-r3','booker',NULL,1020.25,'call',1,'{"kind":"call","text":"pay(amount=5)","final":true,"calls":[{"id":"c-pay","name":"pay","args":"amount=5","long_running":true,"about":""}],"long_running":true}',0,227,'{"id": "e-19", "invocationId": "i-r3", "timestamp": 1020.25, "author": "booker", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-pay", "name": "pay", "args": {"amount": 5}}}]}, "longRunningToolIds": ["c-pay"]}',0.0,3688521964);
INSERT INTO "events" VALUES(21,1,20,NULL,'e-20','i-r3','booker',NULL,1023.0,'human',1,'{"kind":"human","text":"asks for confirmation: pay(amount=5)","final":true,"calls":[{"id":"c-adk_request_confirmation","name":"adk_request_confirmation","args":"originalFunctionCall={\"id\": \"c-pay\", \"name\": \"pay\", \"args\": {\"amount\": 5}}","long_running":true,"about":"pay(amount=5)"}],"long_running":true}',0,355,'{"id": "e-20", "invocationId": "i-r3", "timestamp": 1023.0, "author": "booker", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-adk_request_confirmation", "name": "adk_request_confirmation", "args": {"originalFunctionCall": {"id": "c-pay", "name": "pay", "args": {"amount": 5}}}}}]}, "longRunningToolIds": ["c-adk_request_confirmation"]}',0.0,1550712933);
INSERT INTO "events" VALUES(22,1,21,NULL,'e-21','i-r3','user',NULL,1023.75,'result',0,'{"kind":"result","text":"adk_request_confirmation → {\"confirmed\": true}","responses":[{"id":"c-adk_request_confirmation","name":"adk_request_confirmation","preview":"{\"confirmed\": true}","failed":false}]}',0,247,'{"id": "e-21", "invocationId": "i-r3", "timestamp": 1023.75, "author": "user", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-adk_request_confirmation", "name": "adk_request_confirmation", "response": {"confirmed": true}}}]}}',0.0,2413372789);
INSERT INTO "events" VALUES(23,1,22,NULL,'e-22','i-r3','booker',NULL,1024.5,'result',0,'{"kind":"result","text":"pay → {\"status\": \"paid\"}","responses":[{"id":"c-pay","name":"pay","preview":"{\"status\": \"paid\"}","failed":false}],"edited":true,"edits":[{"action":"mock","gate":"before_tool","by":"ada","call":""}]}',0,299,'{"id": "e-22", "invocationId": "i-r3", "timestamp": 1024.5, "author": "booker", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-pay", "name": "pay", "response": {"status": "paid"}}}]}, "customMetadata": {"devui_edited": [{"action": "mock", "gate": "before_tool", "by": "ada"}]}}',0.0,3289465039);
INSERT INTO "events" VALUES(24,1,23,NULL,'e-23','i-r3','wf',NULL,1025.25,'result',0,'{"kind":"result","text":"{\"sum\": 3}","node":"wf@1/pay@2"}',0,134,'{"id": "e-23", "invocationId": "i-r3", "timestamp": 1025.25, "author": "wf", "nodeInfo": {"path": "wf@1/pay@2"}, "output": {"sum": 3}}',0.0,3377318831);
INSERT INTO "events" VALUES(25,1,24,NULL,'e-24','i-r3','booker',NULL,1026.0,'error',1,'{"kind":"error","text":"LIMIT: too many calls","final":true,"error_code":"LIMIT"}',0,135,'{"id": "e-24", "invocationId": "i-r3", "timestamp": 1026.0, "author": "booker", "errorCode": "LIMIT", "errorMessage": "too many calls"}',0.0,1937084159);
INSERT INTO "events" VALUES(26,1,25,NULL,'e-25','i-r3','planner',NULL,1028.75,'error',0,'{"kind":"error","text":"no code"}',0,108,'{"id": "e-25", "invocationId": "i-r3", "timestamp": 1028.75, "author": "planner", "errorMessage": "no code"}',0.0,1971127684);
INSERT INTO "events" VALUES(27,1,26,NULL,'e-26','i-r3','planner',NULL,1029.5,'checkpoint',1,'{"kind":"checkpoint","text":"end of agent","final":true}',0,113,'{"id": "e-26", "invocationId": "i-r3", "timestamp": 1029.5, "author": "planner", "actions": {"endOfAgent": true}}',0.0,2567576398);
INSERT INTO "events" VALUES(28,1,27,NULL,'e-27','i-r3','planner',NULL,1030.25,'code',0,'{"kind":"code","text":"print(1)"}',0,186,'{"id": "e-27", "invocationId": "i-r3", "timestamp": 1030.25, "author": "planner", "content": {"role": "model", "parts": [{"executableCode": {"code": "print(1)", "language": "PYTHON"}}]}}',0.0,2223859741);
INSERT INTO "events" VALUES(29,1,28,NULL,'e-28','i-r3','planner',NULL,1031.0,'other',1,'{"kind":"other","text":"[image/png]","final":true}',0,180,'{"id": "e-28", "invocationId": "i-r3", "timestamp": 1031.0, "author": "planner", "content": {"role": "model", "parts": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}}',0.0,2884145306);
INSERT INTO "events" VALUES(30,1,29,NULL,'e-29','i-r3','planner',NULL,1031.75,'text',1,'{"kind":"text","text":"cut off","final":true,"tokens":1001,"usage":{"model":"gemini-2.5-flash","prompt":991,"cached":0,"output":10,"thoughts":0},"cut":"MAX_TOKENS"}',0,306,'{"id": "e-29", "invocationId": "i-r3", "timestamp": 1031.75, "author": "planner", "content": {"role": "model", "parts": [{"text": "cut off"}]}, "finishReason": "MAX_TOKENS", "usageMetadata": {"promptTokenCount": 991, "candidatesTokenCount": 10, "totalTokenCount": 1001}, "modelVersion": "gemini-2.5-flash"}',0.0,1106060099);
INSERT INTO "events" VALUES(31,1,30,NULL,'e-30','i-r4','user',NULL,1034.5,'user',0,'{"kind":"user","text":"again"}',0,136,'{"id": "e-30", "invocationId": "i-r4", "timestamp": 1034.5, "author": "user", "content": {"role": "user", "parts": [{"text": "again"}]}}',0.0,829773044);
INSERT INTO "events" VALUES(32,1,31,NULL,'e-31','i-r4','planner',NULL,1035.25,'call',0,'{"kind":"call","text":"search_flights(city=\"Rome\", price=120.5)","tokens":50,"calls":[{"id":"c-search_flights","name":"search_flights","args":"city=\"Rome\", price=120.5","long_running":false,"about":""}],"usage":{"model":"gemini-2.5-flash","prompt":40,"cached":0,"output":10,"thoughts":0}}',0,366,'{"id": "e-31", "invocationId": "i-r4", "timestamp": 1035.25, "author": "planner", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-search_flights", "name": "search_flights", "args": {"city": "Rome", "price": 120.5}}}]}, "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 10, "totalTokenCount": 50}, "modelVersion": "gemini-2.5-flash"}',0.0,3115013441);
INSERT INTO "events" VALUES(33,1,32,NULL,'e-32','i-r4','planner',NULL,1036.0,'result',0,'{"kind":"result","text":"search_flights → []","state_keys":["flights","retries"],"state_count":2,"responses":[{"id":"c-search_flights","name":"search_flights","preview":"[]","failed":false}]}',0,282,'{"id": "e-32", "invocationId": "i-r4", "timestamp": 1036.0, "author": "planner", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-search_flights", "name": "search_flights", "response": {"result": []}}}]}, "actions": {"stateDelta": {"flights": [], "retries": 3}}}',0.0,3010324292);
INSERT INTO "events" VALUES(34,1,33,NULL,'e-33','i-r4','planner',NULL,1036.75,'call',0,'{"kind":"call","text":"search_flights(city=\"Rome\", price=120.5)","tokens":50,"calls":[{"id":"c-search_flights","name":"search_flights","args":"city=\"Rome\", price=120.5","long_running":false,"about":""}],"usage":{"model":"gemini-2.5-flash","prompt":40,"cached":0,"output":10,"thoughts":0}}',0,366,'{"id": "e-33", "invocationId": "i-r4", "timestamp": 1036.75, "author": "planner", "content": {"role": "model", "parts": [{"functionCall": {"id": "c-search_flights", "name": "search_flights", "args": {"city": "Rome", "price": 120.5}}}]}, "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 10, "totalTokenCount": 50}, "modelVersion": "gemini-2.5-flash"}',0.0,2358445391);
INSERT INTO "events" VALUES(35,1,34,NULL,'e-34','i-r4','planner',NULL,1037.5,'result',0,'{"kind":"result","text":"search_flights → []","state_keys":["flights","retries"],"state_count":2,"responses":[{"id":"c-search_flights","name":"search_flights","preview":"[]","failed":false}]}',0,282,'{"id": "e-34", "invocationId": "i-r4", "timestamp": 1037.5, "author": "planner", "content": {"role": "user", "parts": [{"functionResponse": {"id": "c-search_flights", "name": "search_flights", "response": {"result": []}}}]}, "actions": {"stateDelta": {"flights": [], "retries": 4}}}',0.0,958365232);
INSERT INTO "events" VALUES(36,1,35,NULL,'e-35','i-r4','planner',NULL,1040.25,'text',1,'{"kind":"text","text":"all done","final":true,"state_keys":["retries"],"state_count":1,"tokens":70,"usage":{"model":"gemini-2.5-flash","prompt":60,"cached":0,"output":10,"thoughts":0}}',0,320,'{"id": "e-35", "invocationId": "i-r4", "timestamp": 1040.25, "author": "planner", "content": {"role": "model", "parts": [{"text": "all done"}]}, "actions": {"stateDelta": {"retries": null}}, "usageMetadata": {"promptTokenCount": 60, "candidatesTokenCount": 10, "totalTokenCount": 70}, "modelVersion": "gemini-2.5-flash"}',0.0,1355663744);
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
) STRICT;
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
INSERT INTO "journal" VALUES(1,'b7322535492c4c32',36);
CREATE TABLE kinds (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    events  INTEGER NOT NULL,
    PRIMARY KEY (session, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO "kinds" VALUES(1,'artifact',1);
INSERT INTO "kinds" VALUES(1,'call',6);
INSERT INTO "kinds" VALUES(1,'checkpoint',1);
INSERT INTO "kinds" VALUES(1,'code',1);
INSERT INTO "kinds" VALUES(1,'error',2);
INSERT INTO "kinds" VALUES(1,'escalate',1);
INSERT INTO "kinds" VALUES(1,'human',1);
INSERT INTO "kinds" VALUES(1,'other',1);
INSERT INTO "kinds" VALUES(1,'result',7);
INSERT INTO "kinds" VALUES(1,'state',3);
INSERT INTO "kinds" VALUES(1,'text',5);
INSERT INTO "kinds" VALUES(1,'thought',1);
INSERT INTO "kinds" VALUES(1,'transfer',1);
INSERT INTO "kinds" VALUES(1,'user',4);
CREATE TABLE notes (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    text    TEXT NOT NULL,
    starred INTEGER NOT NULL CHECK (starred IN (0, 1)),
    actor   TEXT NOT NULL,
    at      REAL NOT NULL,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "notes" VALUES(1,4,'',1,'ada',1.79588941069104051587e+09);
INSERT INTO "notes" VALUES(1,9,'a noteworthy Remark',0,'ada',1.79588941069507455829e+09);
CREATE TABLE output (
    run    TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    stream TEXT NOT NULL,
    text   TEXT NOT NULL,
    at     REAL NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE pieces (
    session INTEGER NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    name    TEXT NOT NULL, -- a hash of the data
    data    TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT;
CREATE TABLE positions (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
, message TEXT, unfinished TEXT, closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)), held REAL NOT NULL DEFAULT 0) STRICT;
CREATE TABLE scopes (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('session', 'user', 'app')),
    app  TEXT NOT NULL,
    user TEXT CHECK ((user IS NULL) = (kind = 'app'))
, private INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1))) STRICT;
INSERT INTO "scopes" VALUES(1,'session','travel','ada',0);
INSERT INTO "scopes" VALUES(2,'user','travel','ada',0);
INSERT INTO "scopes" VALUES(3,'app','travel',NULL,0);
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
INSERT INTO "sessions" VALUES(1,'travel','ada','s',NULL,1.79588941066042947765e+09,1040.25,36,35,3527,1,1,2,3);
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
    result  TEXT, effects TEXT,
    UNIQUE (run, number)
) STRICT;
CREATE TABLE starts (
    run  TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    data TEXT NOT NULL
) STRICT;
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
INSERT INTO "usage" VALUES(1,2,'planner','gemini-2.5-flash',226,0,10,0);
INSERT INTO "usage" VALUES(1,4,'planner','gemini-2.5-flash',1190,0,10,0);
INSERT INTO "usage" VALUES(1,7,'planner','gemini-2.5-flash',890,0,10,0);
INSERT INTO "usage" VALUES(1,11,'booker','gemini-2.5-flash',10,0,10,0);
INSERT INTO "usage" VALUES(1,29,'planner','gemini-2.5-flash',991,0,10,0);
INSERT INTO "usage" VALUES(1,31,'planner','gemini-2.5-flash',40,0,10,0);
INSERT INTO "usage" VALUES(1,33,'planner','gemini-2.5-flash',40,0,10,0);
INSERT INTO "usage" VALUES(1,35,'planner','gemini-2.5-flash',60,0,10,0);
CREATE TABLE writes (
    seq   INTEGER NOT NULL,
    scope INTEGER NOT NULL REFERENCES scopes (id) ON DELETE CASCADE,
    key   TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (seq, scope, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "writes" VALUES(1,1,'first','1');
INSERT INTO "writes" VALUES(4,1,'flights','["AZ 1"]');
INSERT INTO "writes" VALUES(4,1,'retries','1');
INSERT INTO "writes" VALUES(6,1,'bill','-3.5');
INSERT INTO "writes" VALUES(6,1,'retries','2');
INSERT INTO "writes" VALUES(13,1,'key0','0');
INSERT INTO "writes" VALUES(13,1,'key1','1');
INSERT INTO "writes" VALUES(13,1,'key10','10');
INSERT INTO "writes" VALUES(13,1,'key11','11');
INSERT INTO "writes" VALUES(13,1,'key2','2');
INSERT INTO "writes" VALUES(13,1,'key3','3');
INSERT INTO "writes" VALUES(13,1,'key4','4');
INSERT INTO "writes" VALUES(13,1,'key5','5');
INSERT INTO "writes" VALUES(13,1,'key6','6');
INSERT INTO "writes" VALUES(13,1,'key7','7');
INSERT INTO "writes" VALUES(13,1,'key8','8');
INSERT INTO "writes" VALUES(13,1,'key9','9');
INSERT INTO "writes" VALUES(13,2,'late','"on"');
INSERT INTO "writes" VALUES(14,1,'plan_a','{"steps":[1,2]}');
INSERT INTO "writes" VALUES(14,2,'name','"Ada"');
INSERT INTO "writes" VALUES(15,1,'bill','80');
INSERT INTO "writes" VALUES(16,1,'bill','81');
INSERT INTO "writes" VALUES(33,1,'flights','[]');
INSERT INTO "writes" VALUES(33,1,'retries','3');
INSERT INTO "writes" VALUES(35,1,'flights','[]');
INSERT INTO "writes" VALUES(35,1,'retries','4');
INSERT INTO "writes" VALUES(36,1,'retries','null');
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
CREATE INDEX breakpoints_app ON breakpoints (app, id);
CREATE VIEW breakpoint_rows AS
SELECT id, app, version, enabled, hits, data FROM breakpoints;
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
CREATE VIEW fork_rows AS
SELECT session, parent, number, reason, note, invocation, created FROM forks;
CREATE UNIQUE INDEX scopes_user ON scopes (app, user) WHERE kind = 'user' AND private = 0;
CREATE UNIQUE INDEX scopes_app ON scopes (app) WHERE kind = 'app' AND private = 0;
CREATE INDEX artifacts_content ON artifacts (content);
CREATE TRIGGER artifacts_forgotten AFTER DELETE ON artifacts
WHEN NOT EXISTS (SELECT 1 FROM artifacts WHERE content = OLD.content)
BEGIN
    DELETE FROM contents WHERE id = OLD.content;
END;
CREATE VIEW run_rows AS
SELECT id, session, invocation_id, status, error, started, ended, seq, message, unfinished, closed
FROM runs;
CREATE INDEX spans_session ON spans (session, id);
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
CREATE VIEW event_rows AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held
FROM events;
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
CREATE VIEW event_bodies AS
SELECT seq, number, session, run, id, invocation_id, author, branch, timestamp, kind, final,
       summary, chunks, size, held, checksum, data
FROM events;
CREATE INDEX received_spans_trace ON received_spans (trace);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('scopes',3);
INSERT INTO "sqlite_sequence" VALUES('sessions',1);
INSERT INTO "sqlite_sequence" VALUES('breakpoints',43);
COMMIT;
