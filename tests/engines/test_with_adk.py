"""Apps written for google-adk run on google-adk itself, under the debugger."""

import html
import json
import re
import shutil
import time

import pytest

from tests.engines.conftest import PROJECTS
from tests.kit.debugged_run import DebuggedRun, settled
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import Server, get_session, make_session, run, running, write_app
from tests.kit.terminal import Terminal

pytestmark = needs_adk

DESK = """
import asyncio

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import AgentTool, ToolContext
from google.genai import types


class Script(BaseLlm):
    \"\"\"Calls the tool that the message names with a number, then says what came of it.\"\"\"

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            text = f"It is {last.function_response.response['result']}."
            for word in text.split(" ") if stream else ():
                part = types.Part(text=word)
                yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
            part = types.Part(text=text)
        elif last.text and " " in last.text:
            name, value = last.text.split(" ")
            args = {"request": value} if name == "expert" else {"number": int(value)}
            part = types.Part.from_function_call(name=name, args=args)
        else:
            part = types.Part(text=f"said {last.text}")
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=7, candidates_token_count=3, total_token_count=10
        )
        content = types.Content(role="model", parts=[part])
        yield LlmResponse(content=content, usage_metadata=usage)


def double(number: int, tool_context: ToolContext) -> dict:
    \"\"\"Doubles a number.\"\"\"
    tool_context.state["last"] = number
    return {"result": 2 * number}


async def wait(number: int) -> dict:
    \"\"\"Waits for so many seconds.\"\"\"
    await asyncio.sleep(number)  # here
    return {"result": "late"}


def fail(number: int) -> dict:
    \"\"\"Fails.\"\"\"
    raise ValueError(f"no {number}")


expert = LlmAgent(name="expert", description="Knows.", model=Script(model="script"))
root_agent = LlmAgent(
    name="desk",
    model=Script(model="script"),
    instruction="Be brief.",
    tools=[double, wait, fail, AgentTool(expert)],
)
"""
GRAPH = """
from google.adk import Event, Workflow
from google.adk.events import EventActions


def add(node_input):
    return int(str(node_input.parts[0].text)) + 1


def say(node_input):
    yield Event(message=f"sum {node_input}", state={"sum": node_input})


root_agent = Workflow(name="graph", edges=[("START", add, say)])
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adk")
    shutil.copytree(PROJECTS, folder / "agents")
    write_app(folder / "agents", "desk", DESK)
    write_app(folder / "agents", "graph", GRAPH)
    with running(folder / "agents", folder / "data", *OPTIONS) as server:
        yield server


OPTIONS = ("--python", str(adk_python()))


@pytest.fixture
def client(server):
    with server.client() as client:
        yield client


def texts_of(frames):
    return [
        part["text"]
        for frame in frames
        if not frame.get("partial")
        for part in (frame.get("content") or {}).get("parts", [])
        if "text" in part
    ]


def test_the_page_says_that_the_app_runs_on_google_adk(client):
    run(client, "desk", make_session(client, "desk")["id"], "hello")
    page = client.get("/apps/desk", headers={"Accept": "text/html"}).text
    assert "google-adk" in page


@pytest.mark.parametrize(
    ("app", "message", "said", "state"),
    [
        ("weather", "What is the weather in Oslo?", "The forecast: sunny in Oslo", {}),
        (
            "travel_desk",
            "When do flights leave?",
            "Flights leave at nine. (en)",
            {"flights_asked": 1},
        ),
        ("expenses", "Pay me 20 euros", "20 euros are paid.", {"audit": ["reimburse"], "paid": 20}),
        ("graph", "4", "sum 5", {"sum": 5}),
        ("desk", "expert why", "It is said why.", {}),
    ],
)
def test_a_project_runs_unchanged(client, app, message, said, state):
    session = make_session(client, app)["id"]
    assert texts_of(run(client, app, session, message))[-1] == said
    assert get_session(client, app, session)["state"] == state


def test_warnings_caused_by_devui_are_not_shown_as_the_apps(client):
    run(client, "desk", make_session(client, "desk")["id"], "hello")
    page = client.get("/apps/desk", headers={"Accept": "text/html"}).text
    assert "CredentialService" not in page


def test_a_streamed_answer_has_fragments_first(client):
    frames = run(client, "desk", make_session(client, "desk")["id"], "double 4", streaming=True)
    partial = [frame for frame in frames if frame.get("partial")]
    assert len(partial) == 3
    assert texts_of(frames) == ["It is 8."]


def test_step_half_holds_the_code_before_and_after_each_commit(client):
    debugged = DebuggedRun(client, "desk").start("double 4")
    debugged.settled()
    assert debugged.kept()["events"] == []
    gates = debugged.gates("step_half", "step_half", "step_half", "step_half")
    assert [gate for gate, _ in gates] == ["after_commit", "before_commit"] * 2
    assert len(debugged.kept()["events"]) == 2
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts() == ["double 4", "It is 8."]


def held_at(client, gate, message="double 4"):
    debugged = DebuggedRun(client, "desk").start(message)
    debugged.settled()
    debugged.tell("run_to", like={"gate": gate})
    assert debugged.hold()["gate"] == gate
    return debugged


@pytest.mark.parametrize(
    ("gate", "change", "texts"),
    [
        (
            "before_model",
            lambda held: held["contents"][-1]["parts"][-1].update(text="double 7"),
            ["double 4", "It is 14."],
        ),
        (
            "after_model",
            lambda held: held["content"]["parts"][0]["functionCall"]["args"].update(number=9),
            ["double 4", "It is 18."],
        ),
        ("before_tool", lambda held: held.update(number=5), ["double 4", "It is 10."]),
        ("after_tool", lambda held: held.update(result="much"), ["double 4", "It is much."]),
    ],
)
def test_held_requests_calls_and_results_are_edited(client, gate, change, texts):
    debugged = held_at(client, gate)
    held = debugged.hold()["held"]
    value = {"before_tool": held.get("args"), "after_tool": held.get("result")}.get(gate, held)
    change(value)
    hold = debugged.hold()["id"]
    debugged.tell("edit", hold=hold, value=value)
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts() == texts


def test_a_tool_is_mocked(client):
    debugged = held_at(client, "before_tool")
    debugged.tell("mock", hold=debugged.hold()["id"], value={"result": "mocked"})
    assert debugged.tell("continue")["status"] == "done"
    assert debugged.texts()[-1] == "It is mocked."


def test_prompts_spans_and_tokens_are_recorded(client):
    debugged = DebuggedRun(client, "desk").start("double 4", pause=False)
    debugged.settled()
    spans = client.get(f"/api/sessions/{debugged.key}/spans").json()["spans"]
    assert [(span["type"], span["name"]) for span in spans] == [
        ("agent", "desk"),
        ("model", "script"),
        ("tool", "double"),
        ("model", "script"),
    ]
    model = client.get(f"/api/sessions/{debugged.key}/spans/{spans[1]['id']}").json()
    assert "Be brief." in json.dumps(model["sent"]["system"])
    assert "double" in json.dumps(model["sent"]["tools"])


def test_a_call_under_way_is_shown_with_its_line(client):
    debugged = DebuggedRun(client, "desk").start("wait 30", pause=False)
    deadline = time.monotonic() + 60
    calls = []
    while not calls and time.monotonic() < deadline:
        calls = client.get(f"/api/runs/{debugged.run}/activity").json()["calls"]
    [call] = [call for call in calls if call["name"] == "wait"] or [None]
    debugged.post("stop", key="stop")
    assert debugged.settled()["status"] == "stopped"
    assert call["agent"] == "desk"
    assert call["place"]["source"].endswith("# here")


def test_an_error_of_a_tool_names_its_file_and_line(client):
    debugged = DebuggedRun(client, "desk").start("fail 4", pause=False)
    assert debugged.settled()["status"] == "failed"
    error = debugged.position["error"]
    assert (error["type"], error["message"]) == ("ValueError", "no 4")
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    line = DESK[: DESK.index("raise ValueError")].count("\n") + 1
    assert f"desk/agent.py:{line}" in page


def test_a_breakpoint_stops_where_its_condition_holds(client):
    response = client.post(
        "/api/apps/desk/breakpoints",
        json={"on": "tool", "name": "double", "condition": "args.number > 5"},
    )
    assert response.status_code == 201, response.text
    try:
        debugged = DebuggedRun(client, "desk").start("double 4", pause=False)
        assert debugged.settled()["status"] == "done"
        debugged = DebuggedRun(client, "desk").start("double 6", pause=False)
        assert debugged.settled()["status"] == "held"
        assert debugged.hold()["held"]["args"] == {"number": 6}
        debugged.tell("continue")
    finally:
        client.delete(f"/api/apps/desk/breakpoints/{response.json()['id']}")


@pytest.mark.parametrize("message", ["double 4", "expert why", "hello", "fail 3"])
def test_a_replay_gives_the_same_events_from_the_recorded_answers(client, message):
    recorded = DebuggedRun(client, "desk").start(message, pause=False)
    recorded.settled()
    answer = client.post(f"/api/sessions/{recorded.key}/replays", json={})
    assert answer.status_code == 201, answer.text
    again = DebuggedRun.__new__(DebuggedRun)
    again.client, again.run = client, answer.json()["run"]
    again.settled()
    verdict = client.get(f"/api/runs/{again.run}/replay").json()["verdict"]
    assert (verdict["identical"], verdict["divergence"], verdict["live"]) == (True, None, 0)


SUMMING = """
import itertools

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

numbers = itertools.count(1)


class Counting(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part(text=f"answer {next(numbers)} to {len(llm_request.contents)} contents")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


model = Counting(model="counting")
root_agent = LlmAgent(name="teller", model=model)
settings = EventsCompactionConfig(compaction_interval=2, overlap_size=0 SUMMARIZER)
app = App(name="summing", root_agent=root_agent, events_compaction_config=settings)
"""


@pytest.mark.parametrize("own", ["", ", summarizer=LlmEventSummarizer(llm=model)"])
@pytest.mark.parametrize("engine", ["google-adk", "devui"])
def test_a_conversation_with_summaries_is_replayed(tmp_path, own, engine):
    write_app(tmp_path / "agents", "summing", SUMMING.replace("SUMMARIZER", own))
    long = "a word and another " * 60
    options = ["--engine", engine, "--python", str(adk_python())]
    with (
        running(tmp_path / "agents", tmp_path / "data", *options) as server,
        server.client() as client,
    ):
        session = make_session(client, "summing")["id"]
        for number in range(5):
            run(client, "summing", session, f"{number} {long}")
        events = get_session(client, "summing", session)["events"]
        sums = [e["actions"]["compaction"] for e in events if e["actions"].get("compaction")]
        texts = [each["compactedContent"]["parts"][0]["text"] for each in sums]
        assert len(texts) >= 2
        for ran in client.get("/api/sessions/1/runs").json()["runs"]:
            answer = client.post("/api/sessions/1/replays", json={"run": ran["run"]})
            assert answer.status_code == 201, answer.text
            settled(client, answer.json()["run"])
            verdict = client.get(f"/api/runs/{answer.json()['run']}/replay").json()["verdict"]
            assert (verdict["identical"], verdict["divergence"]) == (True, None), verdict


def test_a_fork_has_its_first_events_and_a_rewind_restores_the_state(client):
    debugged = DebuggedRun(client, "desk").start("double 4", pause=False)
    debugged.settled()
    debugged.start("double 5", pause=False)
    debugged.settled()
    fork = client.post(f"/api/sessions/{debugged.key}/forks", json={"number": 4}).json()
    events = client.get(f"/api/sessions/{fork['key']}/events").json()["events"]
    assert len(events) == 4
    second = debugged.kept()["events"][4]["invocationId"]
    done = client.post(f"/api/sessions/{debugged.key}/rewind", json={"invocationId": second})
    assert done.status_code == 201, done.text
    debugged.run = done.json()["run"]
    assert debugged.settled()["status"] == "done"
    assert debugged.kept()["state"] == {"last": 4}


def test_a_question_is_answered(client):
    debugged = DebuggedRun(client, "expenses").start("Pay me 500 euros", pause=False)
    debugged.settled()
    [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
    assert question["asks"] == "asks for confirmation"
    part = {"id": question["call"], "name": question["name"], "response": {"confirmed": True}}
    message = {"role": "user", "parts": [{"functionResponse": part}]}
    debugged.start(message, pause=False)
    assert debugged.settled()["status"] == "done"
    assert debugged.kept()["state"]["paid"] == 500


def test_a_tool_is_tried_outside_a_run(client):
    session = DebuggedRun(client, "desk")
    body = {"session": session.key, "args": {"number": 21}, "confirm": True}
    answer = client.post("/api/apps/desk/tools/double/trials", json=body)
    assert answer.status_code == 201, answer.text
    trial = answer.json()
    assert trial["result"]["result"] == {"result": 42}
    assert session.kept()["state"] == {}


def test_a_resumable_app_is_resumed_after_a_kill(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    server = Server(tmp_path / "agents", tmp_path / "data", *OPTIONS).start()
    try:
        with server.client() as client:
            debugged = DebuggedRun(client, "expenses").start("Pay me 20 euros")
            debugged.settled()
            debugged.tell("run_to", like={"gate": "before_tool"})
        server.kill()
        server.start()
        with server.client() as client:
            debugged.client = client
            cut = client.get(f"/api/sessions/{debugged.key}/cutoff").json()
            body = {"invocationId": cut["invocationId"]}
            answer = client.post(f"/api/sessions/{debugged.key}/runs", json=body)
            assert answer.status_code == 201, answer.text
            debugged.run = answer.json()["run"]
            assert debugged.settled()["status"] == "done"
            assert debugged.texts()[-1] == "20 euros are paid."
    finally:
        server.stop()


KEYED = """
from fastapi.openapi.models import APIKey
from google.adk.agents import LlmAgent
from google.adk.auth.auth_credential import AuthCredential
from google.adk.auth.auth_tool import AuthConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools.authenticated_function_tool import AuthenticatedFunctionTool
from google.genai import types


class Script(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        answer = last.function_response and last.function_response.response
        if answer and "result" in answer and "read" in str(answer["result"]):
            part = types.Part(text=answer["result"])
        else:
            part = types.Part.from_function_call(name="wiki", args={})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def wiki(credential: AuthCredential) -> str:
    return "read with " + credential.api_key


scheme = APIKey.model_validate({"in": "header", "name": "X-Key"})
root_agent = LlmAgent(
    name="keyed",
    model=Script(model="script"),
    tools=[AuthenticatedFunctionTool(func=wiki, auth_config=AuthConfig(auth_scheme=scheme))],
)
"""


def test_a_tool_asks_for_a_credential(client, server):
    write_app(server.agents, "keyed", KEYED)
    debugged = DebuggedRun(client, "keyed").start(pause=False)
    debugged.settled()
    [question] = client.get(f"/api/runs/{debugged.run}/activity").json()["questions"]
    assert (question["name"], question["for"]) == (
        "adk_request_credential",
        {"kind": "tool", "name": "wiki"},
    )
    page = client.get(f"/sessions/{debugged.key}", headers={"Accept": "text/html"}).text
    assert "X-Key" in page


@pytest.mark.parametrize("app", ["desk", "weather"])
def test_a_session_is_compared_with_replays_on_the_other_engine(client, server, app):
    debugged = DebuggedRun(client, app)
    for message in ("double 4", "hello"):
        debugged.start(message, pause=False).settled()
    done = Terminal(server)("compare", str(debugged.key), "--engines", "--json")
    assert done.returncode in {0, 1}, done.stderr
    comparisons = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(comparisons) == 2
    for each in comparisons:
        run = client.get(f"/api/sessions/{each['right']['session']}/runs").json()["runs"][-1]
        verdict = run["replay"]["verdict"]
        assert verdict["events"] == verdict["recorded"]
        assert verdict["divergence"]["differences"][0]["field"].startswith("system")


def test_the_page_replays_a_run_on_the_other_engine(client, server):
    debugged = DebuggedRun(client, "weather").start("Weather in Oslo", pause=False)
    debugged.settled()
    response = client.post(
        f"/sessions/{debugged.key}/replays", data={"other": "on"}, headers={"Origin": server.url}
    )
    assert response.status_code == 303, response.text
    key = int(re.search(r"/sessions/(\d+)", response.headers["Location"])[1])
    settled(client, client.get(f"/api/sessions/{key}/run").json()["run"])
    page = client.get(f"/sessions/{key}", headers={"Accept": "text/html"}).text
    assert "Replay differs" in page
    link = html.unescape(re.search(r'href="(/compare[^"]+)">Compare the two runs', page)[1])
    assert client.get(link, headers={"Accept": "text/html"}).status_code == 200
