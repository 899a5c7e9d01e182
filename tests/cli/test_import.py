"""Sessions stored by google-adk are imported unchanged (docs/guide/from-adk-web.md)."""

import json
import re
import shutil
import sqlite3

import pytest

from tests.kit.adk_stores import artifact_store, database_store, sqlite_store
from tests.kit.mariadb import mariadb, needs_mariadb
from tests.kit.oracle import needs_adk, run_adk
from tests.kit.patience import wait_until
from tests.kit.postgres import PASSWORD, needs_postgres, postgres
from tests.kit.server import get_session, run, running, write_app
from tests.kit.terminal import devui

pytestmark = needs_adk

AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Rule, Say, ScriptedLlm

root_agent = Agent(name="travel", model=ScriptedLlm(rules=[Rule(Say("on we go"))]))
"""

TOOLS = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look() -> int:
    return 7


script = [
    Rule(after="look", then=Say("It is {result}.")),
    Rule(user="look", then=[Say("Looking"), Call("look")]),
    Rule(then=Say("Bye")),
]
root_agent = Agent(name="tools", model=ScriptedLlm(rules=script), tools=[look])
"""


@pytest.fixture
def place(tmp_path):
    """A folder with the app, for running commands in."""
    write_app(tmp_path / "agents", "travel", AGENT)
    return tmp_path


def import_sessions(place, *args):
    here = ("--data-dir", str(place / "data"), "--agents", str(place / "agents"), "--json")
    done = devui("import", *map(str, args), *here, cwd=place)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return done, lines


def make_database(place, kind):
    """A database of that kind, and its session s1 as google-adk reads it."""
    file = place / "agents" / "travel" / ".adk" / "session.db"
    if kind == "sqlite":
        return file, json.loads(sqlite_store(file))
    file.parent.mkdir(parents=True)
    return file, json.loads(database_store(f"sqlite+aiosqlite:///{file}", kind))


def plain(session):
    """What must be equal in a session, whoever reads it."""
    events = [
        {
            **event,
            "nodeInfo": event.get("nodeInfo")
            or {"path": ""},  # the first schema has no such column
            "longRunningToolIds": event.get("longRunningToolIds") or [],
            "actions": {name: each for name, each in event["actions"].items() if each},
        }
        for event in session["events"]
    ]
    return {name: session[name] for name in ("id", "appName", "userId", "state")} | {"e": events}


@pytest.mark.parametrize("kind", ["sqlite", "1", "0"])
def test_a_database_is_imported_with_ids_times_actions_and_scopes(place, kind):
    file, by_adk = make_database(place, kind)
    done, sessions = import_sessions(place, file)
    assert done.returncode == 0, done.stderr
    assert [(each["id"], each["user"], each["title"], each["events"]) for each in sessions] == [
        ("s1", "ann", "Trip 1", 4),
        ("s2", "ann", "Trip 2", 4),
        ("s3", "ben", "Trip 3", 4),
    ]
    assert all(each["readOnly"] for each in sessions)
    with running(place / "agents", place / "data") as server, server.client() as client:
        here = get_session(client, "travel", "s1", "ann")
        if kind == "0":
            assert any("odd" in note and "complex" in note for note in sessions[0]["notes"])
            delta = here["events"][2]["actions"]["stateDelta"]
            assert delta["when"] == "2026-01-02T03:04:05.000006"
            assert (delta["tags"], delta["price"], delta["raw"]) == (["one"], "1.50", "ab")
            del by_adk["events"][2]["actions"]["stateDelta"]["odd"]
            assert delta.pop("odd") is None
            here["state"].pop("odd", None)
            by_adk["state"].pop("odd", None)
        assert plain(here) == plain(by_adk)
        path = f"/api/sessions/{sessions[0]['key']}"
        first_values = client.get(f"{path}/state?at=1").json()["values"]
        values = {each["key"]: each["value"] for each in first_values}
        assert (values["app:shared"], values["begun_with"], "city" in values) == ("all", 1, False)
        refusal = client.post(f"{path}/runs", json={"message": "more"})
        assert (refusal.status_code, "fork" in refusal.json()["detail"]) == (409, True)
        fork = client.post(f"{path}/forks", json={"number": 4, "id": "mine"})
        assert fork.status_code == 201, fork.text


SERVERS = [
    pytest.param(postgres, "postgresql", "asyncpg", "1", marks=needs_postgres),
    pytest.param(postgres, "postgresql", "asyncpg", "0", marks=needs_postgres),
    # google-adk 2.13.0 can't write its older schema there: aiomysql doesn't accept its pickles.
    pytest.param(mariadb, "mysql", "aiomysql", "1", marks=needs_mariadb),
]


@pytest.mark.parametrize(("database", "scheme", "driver", "schema"), SERVERS)
def test_sessions_are_imported_from_a_database_server(place, database, scheme, driver, schema):
    with database() as address:
        by_adk = json.loads(database_store(f"{scheme}+{driver}://{address}", schema))
        for number, spelling in enumerate((f"{scheme}+{driver}", scheme)):
            done, sessions = import_sessions(
                place, f"{spelling}://{address}", *(["--as-copy"] * number)
            )
            assert done.returncode == 0, done.stderr
            assert [(each["user"], each["events"]) for each in sessions] == [
                ("ann", 4),
                ("ann", 4),
                ("ben", 4),
            ]
            assert PASSWORD not in done.stdout + done.stderr
        done, _ = import_sessions(place, f"{scheme}://{address}".replace("devui:", "devui:wrong"))
        assert done.returncode == 1
        assert re.search("authentication failed|Access denied", done.stderr)
        assert "wrong" not in done.stderr
    with running(place / "agents", place / "data") as server, server.client() as client:
        here = get_session(client, "travel", "s1", "ann")
        for session in (here, by_adk):
            session["events"][2]["actions"]["stateDelta"].pop("odd", None)
            session["state"].pop("odd", None)
        assert plain(here) == plain(by_adk)


def test_existing_sessions_are_skipped_copied_or_continued(place):
    file, by_adk = make_database(place, "sqlite")
    done, rows = import_sessions(place, place / "agents", "--list", "--user", "ann")
    assert [(each["id"], each["events"]) for each in rows] == [("s1", 4), ("s2", 4)]
    assert not (place / "data").exists()
    done, sessions = import_sessions(place, file, "--session", "s1", "--continue")
    assert (len(sessions), sessions[0]["readOnly"]) == (1, False)
    done, again = import_sessions(place, file, "--user", "ann")
    assert done.returncode == 0
    assert [each.get("skipped", "") for each in again] == ["already here", ""]
    done, copies = import_sessions(place, file, "--session", "s1", "--as-copy")
    assert copies[0]["id"] != "s1"
    with running(place / "agents", place / "data") as server, server.client() as client:
        assert plain(get_session(client, "travel", "s1", "ann")) == plain(by_adk)
        body = {"appName": "travel", "userId": "ann", "sessionId": "s1"}
        body |= {"newMessage": {"role": "user", "parts": [{"text": "go on"}]}}
        events = client.post("/run", json=body).json()
        assert events[-1]["content"]["parts"][0]["text"] == "on we go"
        fresh = client.post("/apps/travel/users/ann/sessions", json={}).json()
        assert fresh["state"]["user:kind"] == "ann"  # shares the continued session's user state


def test_artifacts_are_imported_with_their_sessions(place):
    file, _ = make_database(place, "sqlite")
    artifact_store(file.parent / "artifacts")
    done, _ = import_sessions(place, place / "agents", "--session", "s1")
    assert done.returncode == 0, done.stderr
    with running(place / "agents", place / "data") as server, server.client() as client:
        base = "/apps/travel/users/ann/sessions/s1/artifacts"
        assert client.get(base).json() == ["maps/way.png", "plan.txt", "user:pass.txt"]
        assert client.get(f"{base}/plan.txt?version=0").json() == {"text": "fly at noon"}
        assert client.get(f"{base}/plan.txt").json() == {"text": "fly at one"}
        metadata = client.get(f"{base}/plan.txt/versions/1/metadata").json()
        assert metadata["customMetadata"] == {"by": "ann"}
        image = client.get(f"{base}/maps%2Fway.png").json()
        assert image["inlineData"]["mimeType"] == "image/png"
    shutil.rmtree(place / "data")
    file.unlink()
    done, alone = import_sessions(place, file.parent / "artifacts")
    assert [(each["id"], each["events"]) for each in alone] == [("s1", 0)], done.stderr


def test_the_page_imports_a_database(place):
    file, _ = make_database(place, "1")
    with running(place / "agents", place / "data") as server, server.client() as client:
        origin = {"Origin": server.url}
        form = {"file": ("session.db", file.read_bytes(), "application/octet-stream")}
        page = client.post("/import", files=form, headers=origin)
        assert page.status_code == 200
        assert all(f"Trip {number}" in page.text for number in (1, 2, 3))
        again = client.post("/import?continue=yes", files=form, headers=origin).text
        assert "Not imported: already here" in again
        copies = client.post("/import?ids=new", files=form, headers=origin)
        assert (copies.status_code, "already here" in copies.text) == (200, False)
        form = {"file": ("session.db", file.read_bytes()[:5000], "application/octet-stream")}
        refusal = client.post("/import", files=form, headers=origin)
        assert (refusal.status_code, "session.db" in refusal.text) == (422, True)


def test_a_file_of_an_existing_session_is_imported_as_a_copy(place):
    event = {"author": "user", "content": {"role": "user", "parts": [{"text": "hi"}]}}
    session = {"id": "s1", "appName": "travel", "userId": "ann", "events": [event], "state": {}}
    file = place / "s1.json"
    file.write_text(json.dumps(session))
    assert import_sessions(place, file)[0].returncode == 0
    done, _ = import_sessions(place, file)
    assert (done.returncode, "use --as-copy" in done.stderr) == (6, True)
    done, [copy] = import_sessions(place, file, "--as-copy")
    assert (done.returncode, copy["id"] == "s1", copy["events"]) == (0, False, 1)


def test_an_unreadable_database_is_reported_with_the_place(place):
    file, _ = make_database(place, "sqlite")
    with sqlite3.connect(file) as connection:
        cut = "UPDATE events SET event_data = '{' WHERE session_id = 's2' AND id = 'e3'"
        connection.execute(cut)
    done, sessions = import_sessions(place, file)
    assert (done.returncode, [each["id"] for each in sessions]) == (1, ["s1", "s3"])
    for words in (str(file), "table events", "session s2", "e3", "event_data", "JSON"):
        assert words in done.stderr
    other = place / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT)")
    done, _ = import_sessions(place, other)
    assert (done.returncode, "table sessions has no column app_name" in done.stderr) == (1, True)
    (place / "empty").mkdir()
    done, _ = import_sessions(place, place / "empty")
    assert (done.returncode, ".adk/session.db" in done.stderr) == (1, True)
    done, _ = import_sessions(place, "nowhere")
    assert done.returncode == 2


TAKEN_BY_ADK = """
import json
from fastapi.testclient import TestClient
from google.adk.cli.fast_api import get_fast_api_app
from google.adk.sessions import Session

whole = Session.model_validate_json(open(args[0]).read())
app = get_fast_api_app(agents_dir=args[2], web=False, session_service_uri="memory://")
client = TestClient(app, base_url="http://127.0.0.1:8000")
file = json.load(open(args[1]))
path = "/apps/travel/users/ann/sessions"
answer = client.post(path, json={"events": file["events"], "state": file["state"]})
stored = client.get(f"{path}/{answer.json().get('id')}").json()
print(json.dumps([answer.status_code, answer.text, whole.model_dump(mode="json", by_alias=True,
    exclude_none=True), stored]))
"""


EVAL_SET_BY_ADK = """
import json, os, sys
args = sys.argv[1:]
os.environ["ADK_DISABLE_LOAD_DOTENV"] = "1"
from google.adk.cli.utils.evals import convert_session_to_eval_invocations
from google.adk.evaluation.eval_set import EvalSet
from google.adk.sessions import Session

read = EvalSet.model_validate_json(open(args[0]).read())
session = Session.model_validate_json(open(args[1]).read())
own = convert_session_to_eval_invocations(session)
print(json.dumps([read.model_dump(mode="json", exclude_none=True),
    [each.model_dump(mode="json", exclude_none=True) for each in own]]))
"""


def test_an_exported_eval_set_equals_what_adk_makes(place):
    here = ("--data-dir", str(place / "data"), "--agents", str(place / "agents"))
    write_app(place / "agents", "tools", TOOLS)
    state = {"unit": "mile"}
    shared = {"user:name": "Ann"}
    with running(place / "agents", place / "data") as server, server.client() as client:
        sessions = "/apps/tools/users/ann/sessions"
        client.post(sessions, json={"state": shared}).raise_for_status()
        session = client.post(sessions, json={"state": state}).json()["id"]
        for text in ("look", "thanks"):
            run(client, "tools", session, text, userId="ann")
        late = {"state": {"user:name": "Bo"}}
        client.post(sessions, json=late).raise_for_status()
    for form in ("eval-set", "adk"):
        done = devui("export", session, "-o", form, "--format", form, *here, cwd=place)
        assert done.returncode == 0, done.stderr
    output = run_adk(EVAL_SET_BY_ADK, place / "eval-set", place / "adk")
    read, own = json.loads(output.splitlines()[-1])
    [case] = read["eval_cases"]
    assert case["conversation"] == own
    assert [each["final_response"]["parts"] for each in own] == [
        [{"text": "It is 7."}],
        [{"text": "Bye"}],
    ]
    begins = {"app_name": "tools", "user_id": "ann", "state": state | shared}
    assert case["session_input"] == begins


def test_an_eval_set_omits_rewound_turns_and_has_restored_ones(place):
    here = ("--data-dir", str(place / "data"), "--agents", str(place / "agents"))
    write_app(place / "agents", "tools", TOOLS)
    with running(place / "agents", place / "data") as server, server.client() as client:
        session = client.post("/apps/tools/users/ann/sessions", json={}).json()["id"]
        for text in ("thanks", "look"):
            run(client, "tools", session, text, userId="ann")
        [row] = client.get("/api/sessions").json()["sessions"]
        for rest in (["thanks"], ["thanks", "look"]):  # the second rewind undoes the first
            events = client.get(f"/apps/tools/users/ann/sessions/{session}").json()["events"]
            body = {"invocationId": events[-1]["invocationId"]}
            answer = client.post(f"/api/sessions/{row['key']}/rewind", json=body).json()
            path = f"/api/runs/{answer['run']}"
            wait_until(lambda path=path: client.get(path).json()["status"] == "done")
            done = devui("export", session, "-o", "e", "--format", "eval-set", *here, cwd=place)
            assert done.returncode == 0, done.stderr
            [case] = json.loads((place / "e").read_text())["eval_cases"]
            messages = [each["user_content"]["parts"][0]["text"] for each in case["conversation"]]
            assert messages == rest
            (place / "e").unlink()


def test_adk_reads_exported_sessions(place):
    file, by_adk = make_database(place, "sqlite")
    _, [session] = import_sessions(place, file, "--session", "s1")
    here = ("--data-dir", str(place / "data"), "--agents", str(place / "agents"))
    for form in ("adk", "adk-web"):
        done = devui("export", str(session["key"]), "-o", form, "--format", form, *here, cwd=place)
        assert done.returncode == 0, done.stderr
    output = run_adk(TAKEN_BY_ADK, place / "adk", place / "adk-web", place / "agents")
    status, text, whole, back = json.loads(output.splitlines()[-1])
    assert plain(whole) == plain(by_adk)
    assert status == 200, text
    assert back["state"] == by_adk["state"]
    assert [each["content"] for each in back["events"]] == [
        each["content"] for each in by_adk["events"]
    ]
