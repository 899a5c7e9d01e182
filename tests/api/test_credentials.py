"""A tool that needs a login, which it requests and gets over ADK's REST API."""

import io
import zipfile

import pytest

from tests.kit.debugged_run import DebuggedRun, forget_sessions, settled
from tests.kit.oauth import SECRET, child, get, given_by
from tests.kit.schema_checks import check
from tests.kit.server import make_session, running, write_app

pytest.importorskip("authlib")

AGENT = '''
import urllib.request

from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig, AuthCredential, OAuth2Auth
from devui.runtime.auth.auth_schemes import OAuth2, OAuthFlow, OAuthFlows
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool

URL = {url!r}
flow = OAuthFlow(
    authorizationUrl=URL + "/authorize", tokenUrl=URL + "/token", scopes={{"mail": "read"}}
)
config = AuthConfig(
    auth_scheme=OAuth2(flows=OAuthFlows(authorizationCode=flow)),
    raw_auth_credential=AuthCredential(
        auth_type="oauth2",
        oauth2=OAuth2Auth(
            client_id="app", client_secret={secret!r}, redirect_uri="http://localhost/back"
        ),
    ),
)


def read(page: str, credential: AuthCredential) -> int:
    """Read a page."""
    headers = {{"Authorization": "Bearer " + credential.oauth2.access_token}}
    with urllib.request.urlopen(urllib.request.Request(URL + "/api/" + page, headers=headers)) as a:
        return a.status


rules = [Rule(after="read", then=Say("It says {{result}}.")), Rule(then=Call("read", page="1"))]
root_agent = Agent(
    name="reader",
    model=ScriptedLlm(rules=rules),
    tools=[AuthenticatedFunctionTool(func=read, auth_config=config)],
)
'''
KEYS = """
from devui.runtime import Workflow
from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig
from devui.runtime.auth.auth_schemes import APIKey
from devui.runtime.models import Call, Rule, ScriptedLlm
from devui.runtime.tools import BaseToolset
from devui.runtime.tools.base_authenticated_tool import AuthenticatedFunctionTool
from devui.runtime.workflow import node

key = AuthConfig(auth_scheme=APIKey.model_validate({"in": "header", "name": "X-Key"}))


class Desk(BaseToolset):
    async def get_tools(self, readonly_context=None):
        return []

    def get_auth_config(self):
        return key


async def fetch(ctx):
    return ctx.get_auth_response(key).api_key


def wiki(credential):
    return "read"


model = ScriptedLlm(rules=[Rule(then=Call("wiki"))])
tool = Agent(
    name="tool", model=model, tools=[AuthenticatedFunctionTool(func=wiki, auth_config=key)]
)
toolset = Agent(name="toolset", model=model, tools=[Desk()])
asking = node(fetch, auth_config=key, rerun_on_resume=True)
graph = Workflow(name="graph", edges=[("START", asking)])
"""
HERE = {"app_name": "reader", "user_id": "u", "session_id": "s"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    for root in ("tool", "toolset", "graph"):
        write_app(folder / "agents", root, f"{KEYS}\nroot_agent = {root}\n")
    with running(folder / "agents", folder / "data") as server:
        yield server


def text(events) -> str:
    return events[-1]["content"]["parts"][0].get("text", "")


def credential_request(events) -> dict:
    [call] = [
        part["functionCall"]
        for event in events
        for part in event["content"]["parts"]
        if part.get("functionCall", {}).get("name") == "adk_request_credential"
    ]
    return call


def say(client, **part) -> list[dict]:
    message = {"role": "user", "parts": [part]}
    answer = client.post("/run", json={**HERE, "new_message": message})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.req("R64")
def test_a_user_logs_in_once_and_no_token_is_written_to_disk(tmp_path):
    with child("tests.kit.oauth_server") as url:
        write_app(tmp_path / "agents", "reader", AGENT.format(url=url, secret=SECRET))
        data = tmp_path / "data"
        with running(tmp_path / "agents", data) as server, server.client() as client:
            client.post("/apps/reader/users/u/sessions/s", json={})
            call = credential_request(say(client, text="Read it."))
            config = call["args"]["authConfig"]
            oauth2 = config["exchangedAuthCredential"]["oauth2"]
            oauth2["authResponseUri"] = get(oauth2["authUri"]).headers["location"]
            reply = {"id": call["id"], "name": call["name"], "response": config}
            assert text(say(client, functionResponse=reply)) == "It says 200."
            assert text(say(client, text="Once more.")) == "It says 200."
        [granted] = given_by(url, "app")
        for file in data.rglob("*"):
            content = file.read_bytes() if file.is_file() else b""
            assert granted["token"].encode() not in content
            assert SECRET.encode() not in content


@pytest.mark.parametrize(
    ("root", "asker"),
    [
        ("tool", {"kind": "tool", "name": "wiki"}),
        ("toolset", {"kind": "toolset", "name": "Desk"}),
        ("graph", {"kind": "node", "name": "fetch"}),
    ],
)
def test_a_question_names_what_needs_the_credential(keys, root, asker):
    with keys.client() as client:
        debugged = DebuggedRun(client, root).start(pause=False)
        debugged.settled()
        activity = client.get(f"/api/runs/{debugged.run}/activity").json()
        check(activity, {"$ref": "/RunActivity"})
        [question] = activity["questions"]
        assert (question["agent"], question["for"]) == (root, asker)
        page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
        assert f"The {asker['kind']} {asker['name']} of {root} needs an API key." in page


JSON = {"Content-Type": "application/json"}
GIVEN = "my-own-key-9137"


def give(client, session: dict, key: str) -> None:
    """Let the agent ask for a key, and answer with this one."""
    begin = {"role": "user", "parts": [{"text": "go"}]}
    call = credential_request(client.post("/run", json={**session, "new_message": begin}).json())
    config = call["args"]["authConfig"]
    config["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": key}
    reply = {"id": call["id"], "name": call["name"], "response": config}
    message = {"role": "user", "parts": [{"functionResponse": reply}]}
    assert client.post("/run", json={**session, "new_message": message}).status_code == 200


def seen(client, key: int) -> str:
    """Everything that the server shows of a session in which somebody gave a credential."""
    page = f"/sessions/{key}"
    rows = client.get("/api/sessions").json()["sessions"]
    [row] = [row for row in rows if row["key"] == key]
    paths = [page, "/", f"/apps/{row['app']}", f"{page}?tab=state", f"{page}?tab=log"]
    paths += [f"{page}?event={n}&tab={tab}" for n in (2, 3, 4) for tab in ("event", "raw")]
    names = ("events", "recording", "export", "export?format=html", "spans", "state")
    answers = [client.get(path) for path in (*paths, *(f"/api{page}/{n}" for n in names))]
    answers.append(client.post(f"/api{page}/test", json={}))
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(answer.text for answer in answers)


@pytest.mark.req("R64")
def test_a_key_that_a_user_gave_is_redacted_everywhere_and_replayable(tmp_path):
    write_app(tmp_path / "agents", "graph", f"{KEYS}\nroot_agent = graph\n")
    here = {"app_name": "graph", "user_id": "u", "session_id": "s"}
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            client.post("/apps/graph/users/u/sessions/s", json={})
            give(client, here, GIVEN)
            key = client.get("/api/sessions").json()["sessions"][0]["key"]
            path = f"/api/sessions/{key}"
            assert GIVEN not in seen(client, key)
            again = client.post(f"{path}/replays", json={}).json()
            settled(client, again["run"])
            assert client.get(f"/api/runs/{again['run']}/replay").json()["verdict"]["identical"]
            bundle = client.get(f"{path}/export?secrets=keep").text
            assert GIVEN in bundle
            findings = client.get(f"{path}/export/preview").json()["findings"]
            assert {each["kind"] for each in findings} == {"a credential that somebody gave"}
        server.kill()
        server.start()
        with server.client() as client:
            assert GIVEN not in seen(client, key)
            forget_sessions(client)
        server.stop()
        server.start()
        with server.client() as client:
            copy = client.post("/api/sessions/import", content=bundle, headers=JSON)
            assert GIVEN not in seen(client, copy.json()["key"])


@pytest.mark.req("R64")
def test_a_short_key_that_a_user_gave_is_not_exported_or_recorded(keys):
    here = {"app_name": "graph", "user_id": "u", "session_id": "s"}
    with keys.client() as client:
        client.post("/apps/graph/users/u/sessions/s", json={})
        give(client, here, "swordfish")
        query = {"app": "graph", "user": "u", "id": "s"}
        key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
        path = f"/api/sessions/{key}"
        for way in ("export", "export?format=html", "recording"):
            assert "swordfish" not in client.get(f"{path}/{way}").text


@pytest.mark.req("R64")
def test_a_key_given_in_one_session_is_redacted_in_archives_of_others(keys):
    here = {"app_name": "graph", "user_id": "u", "session_id": "giver"}
    with keys.client() as client:
        make_session(client, "graph", sessionId="giver")
        give(client, here, GIVEN)
        make_session(client, "graph", sessionId="other", state={"copied": GIVEN})
        query = {"app": "graph", "id": "other"}
        [row] = client.get("/api/sessions", params=query).json()["sessions"]
        single = client.get(f"/api/sessions/{row['key']}/export").content
        assert GIVEN.encode() not in single
        answer = client.post(
            "/apps/graph/sessions/export",
            data={"session": row["key"]},
            headers={"Origin": str(client.base_url).rstrip("/")},
        )
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            [name] = archive.namelist()
            assert archive.read(name) == single
