"""Trials over HTTP: a tool with a copy of the state, a model with an edited request."""

import html
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import running, write_app

BENCH = """
import os

from google.genai import types

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import ToolContext, read_only


@read_only
async def count(step: int, tool_context: ToolContext) -> dict:
    \"\"\"Count on.\"\"\"
    number = tool_context.state.get("n", 0) + step
    tool_context.state["n"] = number
    if step == 3:
        part = types.Part(text=f"n={number}")
        await tool_context.save_artifact("n.txt", part)
    return {"n": number, "files": await tool_context.list_artifacts()}


def fail(how: str) -> str:
    if how == "hard":
        os._exit(3)
    raise ValueError("no luck")


rules = [
    Rule(after="count", then=Say("counted")),
    Rule(user="count", then=Call("count", step=1)),
    Rule(then=Say("hello")),
]
root_agent = Agent(
    name="bench", instruction="Be brief.", model=ScriptedLlm(rules=rules), tools=[count, fail]
)
"""


SIGNS = """
from typing import Any, Literal

from google.adk.agents import Agent
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from pydantic import BaseModel
from typing_extensions import TypeAliasType


class Leg(BaseModel):
    origin: str


Place = TypeAliasType("Place", int | str | None)


class Booking(BaseModel):
    name: str


def ask(country: str) -> dict | None: ...


def book(name: str, tool_context: ToolContext, nights: int = 1) -> Booking:
    '''Books a room.

    Args:
        name: Of the hotel.
    '''


def free(way: Any): ...


def look() -> str: ...


def plan(legs: list[Leg], mode: Literal["train", "plane"] = "train") -> list[Leg]: ...


def stop(at: Place, when: Literal["día", 1, None]) -> Literal["v1.x"]: ...


tools = [
    LongRunningFunctionTool(ask),
    FunctionTool(book, require_confirmation=True),
    free,
    look,
    stop,
    FunctionTool(plan, require_confirmation=lambda legs: len(legs) > 1),
]
root_agent = Agent(name="desk", model="gemini-2.5-flash", tools=tools)
"""
NESTED = """
from typing_extensions import TypeAliasType

from devui.runtime.agents import Agent

Tree = TypeAliasType("Tree", "list[Tree]")


def grow(tree: Tree) -> str: ...


root_agent = Agent(name="nested", model="gemini-2.5-flash", tools=[grow])
"""
SETS = """
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.tools import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset
from devui.runtime.tools.function_tool import FunctionTool


def late(): ...
def plain(): ...


class Late(BaseToolset):
    async def get_tools(self, readonly_context=None):
        if not Path({there!r}).exists():
            raise ConnectionError("nobody listens")
        return [FunctionTool(late)]


class Odd(BaseTool):
    def _get_declaration(self):
        return {"name": "odd"}  # which is no declaration


model = ScriptedLlm(rules=[Rule(then=Say("yes"))])
root_agent = Agent(name="sets", model=model, tools=[Late(), plain, Odd(name="odd", description="")])
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """The file that the toolset waits for."""
    return tmp_path_factory.mktemp("listening") / "there"


@pytest.fixture(scope="module")
def server(tmp_path_factory, there):
    folder = tmp_path_factory.mktemp("trials")
    write_app(folder / "agents", "bench", BENCH)
    write_app(folder / "agents", "sets", SETS.replace("{there!r}", repr(str(there))))
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    with server.client() as client:
        yield client


@pytest.fixture
def debugged(client):
    debugged = DebuggedRun(client, "bench").start("count", pause=False)
    assert debugged.settled()["status"] == "done"
    return debugged


def run_trial(debugged: DebuggedRun, tool: str, status: int = 201, **body):
    path = f"/api/apps/bench/tools/{tool}/trials"
    answer = debugged.client.post(path, json={"session": debugged.key, **body})
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.req("R32")
def test_a_tool_runs_with_a_copy_of_the_state_and_commits_nothing(debugged):
    before = debugged.kept()
    now = run_trial(debugged, "count", args={"step": 3})
    assert now["result"]["result"] == {"n": 4, "files": ["n.txt"]}
    assert now["result"]["actions"] == {"stateDelta": {"n": 4}, "artifactDelta": {"n.txt": 0}}
    then = run_trial(debugged, "count", args={"step": 5}, event=2)
    assert then["result"]["result"] == {"n": 5, "files": []}
    assert (then["event"], then["agent"], then["sent"]) == (2, "bench", {"step": 5})
    assert debugged.kept() == before
    rows = debugged.client.get(f"/api/sessions/{debugged.key}/trials").json()["trials"]
    assert [each["id"] for each in rows] == [then["id"], now["id"]]


def test_the_trial_form_of_a_result_needs_no_span_for_the_arguments(debugged):
    client, key = debugged.client, debugged.key
    bundle = client.get(f"/api/sessions/{key}/export").json()
    records = [record for record in bundle["records"] if record["type"] != "span"]
    bundle.update(records=records, count=len(records))
    headers = {"content-type": "application/json"}
    copy = client.post("/api/sessions/import", json=bundle, headers=headers).json()["key"]
    result = client.get(f"/api/sessions/{copy}/events/3").json()["event"]
    [part] = result["content"]["parts"]
    call = part["functionResponse"]["id"]
    form = client.get(f"/sessions/{copy}/events/3/calls/{call}")
    assert form.status_code == 200
    assert "&#34;step&#34;: 1" in form.text
    assert client.get(f"/sessions/{copy}/events/4/calls/{call}").status_code == 404


@pytest.mark.req("R32")
def test_a_tool_with_unknown_effects_runs_only_if_confirmed(debugged):
    unsure = run_trial(debugged, "fail", 409, args={"how": "soft"})
    assert (unsure["effect"], unsure["source"], unsure["recorded"]) == ("unknown", "nobody", None)
    failed = run_trial(debugged, "fail", args={"how": "soft"}, confirm=True)
    assert failed["result"] is None
    assert (failed["error"]["type"], failed["error"]["message"]) == ("ValueError", "no luck")
    assert (
        failed["error"]["line"] == BENCH.splitlines().index('    raise ValueError("no luck")') + 1
    )
    assert run_trial(debugged, "nothing", 404)["detail"]
    crash = run_trial(debugged, "fail", 409, args={"how": "hard"}, confirm=True)
    assert "ended" in crash["detail"]


def test_a_model_is_called_with_an_edited_request(debugged):
    client, key = debugged.client, debugged.key
    spans = client.get(f"/api/sessions/{key}/spans").json()["spans"]
    span = next(each["id"] for each in spans if each["type"] == "model")
    request = client.get(f"/api/sessions/{key}/spans/{span}").json()["sent"]
    before = debugged.kept()
    path = f"/api/sessions/{key}/spans/{span}/trials"

    def ask(**changed):
        answer = client.post(path, json={"request": {**request, **changed}, "actor": "ada"})
        assert answer.status_code == 201, answer.text
        return answer.json()

    same, other = ask(), ask(contents=[{"role": "user", "parts": [{"text": "hi"}]}])
    [call] = same["result"][-1]["content"]["parts"]
    assert call["functionCall"]["name"] == "count"
    [part] = other["result"][-1]["content"]["parts"]
    assert (part["text"], other["actor"]) == ("hello", "ada")
    wrong = ask(contents=[{"role": "user", "parts": "none"}])
    assert wrong["error"]["type"] == "ValidationError"
    assert debugged.kept() == before
    rows = client.get(f"/api/sessions/{key}/trials", params={"span": span}).json()["trials"]
    assert [each["id"] for each in rows] == [wrong["id"], other["id"], same["id"]]
    assert (
        client.post(f"/api/sessions/{key}/spans/999999/trials", json={"request": {}}).status_code
        == 404
    )


def test_tools_are_listed_with_their_declaration(client):
    count, fail = client.get("/api/apps/bench/tools").json()["tools"]
    assert (count["name"], count["effect"], count["description"]) == (
        "count",
        "read_only",
        "Count on.",
    )
    assert count["schema"]["properties"]["step"]["type"].lower() == "integer"
    assert (fail["name"], fail["source"], fail["agents"]) == ("fail", "nobody", ["bench"])


def test_bulk_marking_changes_only_the_listed_tools(client):
    form = {"effect": "read_only", "tool": ["count"]}
    origin = str(client.base_url).rstrip("/")
    answer = client.post("/apps/bench/tools", data=form, headers={"Origin": origin})
    assert answer.status_code == 303
    _, fail = client.get("/api/apps/bench/tools").json()["tools"]
    assert (fail["effect"], fail["source"]) == ("unknown", "nobody")


@pytest.mark.parametrize("engine", ["devui", pytest.param("google-adk", marks=needs_adk)])
def test_the_apps_page_lists_tools_with_signatures_and_confirmations(tmp_path, engine):
    options = ["--engine", engine]
    options += ["--python", str(adk_python())] if engine == "google-adk" else []
    write_app(tmp_path / "agents", "signs", SIGNS)
    with (
        running(tmp_path / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        page = client.get("/apps/signs/tools", headers={"HX-Request": "true"}).text
    assert "field-error" not in page, page[-1500:]
    heads = {
        (words := " ".join(html.unescape(re.sub("<[^>]+>", "", head)).split()))[:4]: words
        for head in re.findall("<header><p>(.*?)</p>", page, re.DOTALL)
    }
    assert heads == {
        "ask(": "ask(country: str) -> dict | None desk long-running",
        "book": "book(name: str, nights: int = 1) -> Booking desk asks for confirmation",
        "free": "free(way: Any) desk",
        "look": "look() -> str desk",
        "plan": 'plan(legs: list[Leg], mode: "train" | "plane" = "train") -> list[Leg] desk'
        " may ask for confirmation",
        "stop": """stop(at: int | str | None, when: "día" | 1 | None) -> Literal['v1.x'] desk""",
    }
    assert re.search(r"<summary[^>]*>Books a room\.</summary><p[^>]*>Args:", page)
    assert page.count("Unknown counts as having side effects") == 1


def test_a_tool_with_a_recursive_parameter_type_is_listed(tmp_path):
    write_app(tmp_path / "agents", "nested", NESTED)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        page = client.get("/apps/nested/tools", headers={"HX-Request": "true"}).text
    assert "(tree: list[list[list[list[…]]]]) -&gt; str" in page


def test_a_toolset_that_fails_to_list_its_tools_is_asked_again(client, there):
    listing = client.get("/api/apps/sets/tools").json()
    assert [each["name"] for each in listing["tools"]] == ["odd", "plain"]
    assert listing["tools"][0]["schema"] is None
    [silent] = listing["silent"]
    assert (silent["agent"], silent["toolset"]) == ("sets", "Late")
    assert silent["error"] == "ConnectionError: nobody listens"
    page = client.get("/apps/sets/tools", headers={"Accept": "text/html"}).text
    assert "Late of sets couldn&#39;t list its tools" in page
    assert "ConnectionError: nobody listens" in page
    assert 'hx-get="/apps/sets/tools"' in page
    there.touch()
    listing = client.get("/api/apps/sets/tools").json()
    names = [each["name"] for each in listing["tools"]]
    assert (names, listing["silent"]) == (["late", "odd", "plain"], [])
