"""Requests to ADK's REST API, in the order and form in which its clients send them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.kit.server import write_app

APP = """
from google.adk.agents import Agent, SequentialAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types


class Echo(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        text = last.text or ""
        if last.function_response:
            part = types.Part(text=f"{last.function_response.name} answered")
        elif text.startswith("call "):
            call = types.FunctionCall(name=text.split()[1], args={"word": "tea"})
            part = types.Part(function_call=call)
        elif text == "fail":
            raise ValueError("no such thing")
        else:
            part = types.Part(text=f"you said {text}")
        if stream and part.text:
            for piece in part.text.split(" "):
                said = types.Content(role="model", parts=[types.Part(text=piece + " ")])
                yield LlmResponse(content=said, partial=True)
        yield LlmResponse(
            content=types.Content(role="model", parts=[part]),
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=3, candidates_token_count=2, total_token_count=5
            ),
            model_version="echo-1",
            finish_reason="STOP",
        )


def note(word: str, tool_context: ToolContext) -> dict:
    '''Notes a word.'''
    tool_context.state["word"] = word
    return {"noted": word}


async def draw(word: str, tool_context: ToolContext) -> dict:
    '''Saves a word as a file.'''
    part = types.Part.from_bytes(data=word.encode(), mime_type="text/plain")
    await tool_context.save_artifact("word.txt", part)
    return {"saved": "word.txt"}


def pay(word: str) -> dict:
    '''Pays for a word.'''
    return {"paid": word}


model = Echo(model="echo")
"""
TOOLBOX = (
    APP
    + """
helper = Agent(name="helper", description="Helps.", model=model, instruction="Help.")
root_agent = Agent(
    name="toolbox",
    description="Says it again.",
    model=model,
    instruction="Repeat.",
    tools=[note, draw, FunctionTool(pay, require_confirmation=True)],
    sub_agents=[helper],
)
"""
)
STEPS = (
    APP
    + """
first = Agent(name="first", model=model, instruction="Begin.", tools=[note])
second = Agent(name="second", model=model, instruction="End.")
root_agent = SequentialAgent(name="steps", sub_agents=[first, second])
"""
)

FLOW = (
    APP
    + """
from google.adk.tools import AgentTool
from google.adk.workflow import START, JoinNode, Workflow

expert = Agent(name="expert", model=model, instruction="Know.")


def sort(node_input: str) -> str:
    return node_input


def up(node_input: str) -> str:
    return node_input.upper()


writer = Agent(name="writer", model=model, instruction="Write.", tools=[AgentTool(expert), note])
join = JoinNode(name="join")
inner = Workflow(name="inner", edges=[(START, up)])
root_agent = Workflow(
    name="flow", edges=[(START, sort), (sort, {"a": writer, "b": inner}), ((writer, inner), join)]
)
"""
)
GROUPS = (
    APP
    + """
from google.adk.agents import LoopAgent, ParallelAgent
from google.adk.tools import AgentTool

expert = Agent(name="expert", model=model, instruction="Know.")
one = Agent(name="one", model=model, instruction="Say.", tools=[AgentTool(expert), note])
two = Agent(name="two", model=model, instruction="Say more.", output_key="said")
three = Agent(name="node", model=model, instruction="Say <less>.", description='A "third" one.')
both = ParallelAgent(name="both", sub_agents=[one, two])
again = LoopAgent(name="again", sub_agents=[both, three], max_iterations=2)
root_agent = Agent(name="root", model=model, instruction="Begin.", sub_agents=[again])
"""
)
APPS = {"toolbox": TOOLBOX, "steps": STEPS, "flow": FLOW, "groups": GROUPS}

JSON = dict[str, Any]

RECORDED = '{"b": 1, "a": ["\u00e9"]}'
"""A recorded test in the folder of the first app."""


def write_apps(folder: Path) -> Path:
    """Write the apps for both servers and return their folder."""
    for name, code in APPS.items():
        file = write_app(folder / "agents", name, code)
        file.with_name("__init__.py").write_text("from . import agent\n", encoding="utf-8")
    tests = folder / "agents" / "toolbox" / "tests"
    tests.mkdir()
    (tests / "one.json").write_text(RECORDED, encoding="utf-8")
    return folder / "agents"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. `body` is sent as JSON unless it is None."""

    name: str
    method: str
    path: str
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    def of(self, client: httpx2.Client, ids: dict[str, str]) -> httpx2.Response:
        """Send the request; `{event}` in the path is replaced by an id from an earlier answer."""
        path = self.path.format(**ids)
        if self.body is None:
            return client.request(self.method, path, headers=self.headers)
        return client.request(self.method, path, json=self.body, headers=self.headers)


def silent(app: str = "toolbox", session: str = "s", **more: Any) -> JSON:
    """Return the body of a run without a message from the user."""
    return {"appName": app, "userId": "u", "sessionId": session, **more}


def run(text: str = "hello", session: str = "s", **more: Any) -> JSON:
    message = {"role": "user", "parts": [{"text": text}]}
    body = {"appName": "toolbox", "userId": "u", "sessionId": session, "newMessage": message}
    return {**body, **more}


_U = "/apps/toolbox/users/u"
_S = f"{_U}/sessions/s"
_F = f"{_S}/artifacts"
_D = "/dev/apps/toolbox"
_CASE = {"eval_id": "c", "conversation": []}
_GIVEN = {"role": "user", "parts": [{"text": "before"}]}

REQUESTS = [
    Asked("the health", "GET", "/health"),
    Asked("the version", "GET", "/version"),
    Asked("the apps", "GET", "/list-apps"),
    Asked("the apps, as the front end asks", "GET", "/list-apps?relative_path=./"),
    Asked("the apps in detail", "GET", "/list-apps?detailed=true"),
    Asked("an app", "GET", "/apps/toolbox/app-info"),
    Asked("an app without a model", "GET", "/apps/steps/app-info"),
    Asked("an unknown app", "GET", "/apps/nobody/app-info"),
    Asked("sessions of nobody", "GET", f"{_U}/sessions"),
    Asked("an unknown session", "GET", f"{_U}/sessions/none"),
    Asked("a session with an id", "POST", f"{_U}/sessions", {"sessionId": "s"}),
    Asked("the same again", "POST", f"{_U}/sessions", {"sessionId": "s"}),
    Asked(
        "a session with a state", "POST", f"{_U}/sessions", {"session_id": "t", "state": {"n": 1}}
    ),
    Asked("a session with nothing", "POST", f"{_U}/sessions"),
    Asked("a session with null", "POST", "/apps/steps/users/u/sessions", {}),
    Asked("a session of a path", "POST", f"{_U}/sessions/p", {"n": 2}),
    Asked("a session of a sequence", "POST", "/apps/steps/users/u/sessions", {"sessionId": "q"}),
    Asked(
        "a session for odd runs",
        "POST",
        f"{_U}/sessions",
        {"sessionId": "odd", "events": [{"author": "user", "content": _GIVEN}]},
    ),
    Asked("a session of a path again", "POST", f"{_U}/sessions/p", {"n": 2}),
    Asked(
        "a session with events",
        "POST",
        f"{_U}/sessions",
        {"sessionId": "given", "events": [{"author": "user", "content": _GIVEN}]},
    ),
    Asked("a session with a wrong state", "POST", f"{_U}/sessions", {"state": 3}),
    Asked("a session with an unknown member", "POST", f"{_U}/sessions", {"color": 3}),
    Asked("a session of an unknown app", "GET", "/apps/nobody/users/u/sessions/s"),
    Asked("a run", "POST", "/run", run()),
    Asked("a run with a tool", "POST", "/run", run("call note")),
    Asked("a run that saves a file", "POST", "/run", run("call draw")),
    Asked("a run to confirm", "POST", "/run", run("call pay", session="t")),
    Asked("a run with metadata", "POST", "/run", run(customMetadata={"tenant": "t1"})),
    Asked("a run with a state", "POST", "/run", run(stateDelta={"k": "v", "temp:t": 1})),
    Asked("a run that fails", "POST", "/run", run("fail", session="t")),
    Asked("a run of an unknown session", "POST", "/run", run(session="none")),
    Asked("a run of an unknown app", "POST", "/run", {**run(), "appName": "nobody"}),
    Asked("a run without an app", "POST", "/run", {**run(), "appName": None}),
    Asked("a run without a message", "POST", "/run", silent(session="p")),
    Asked("a run with a state alone", "POST", "/run", silent(session="p", stateDelta={"k": 3})),
    Asked("a stream without a message", "POST", "/run_sse", silent(session="p", streaming=True)),
    Asked("a run without a message again", "POST", "/run", silent(session="given")),
    Asked("what runs without a message left", "GET", f"{_U}/sessions/p"),
    Asked("a run of a sequence", "POST", "/run", silent("steps", session="q")),
    Asked("a stream of a sequence", "POST", "/run_sse", silent("steps", session="q")),
    Asked("a run that resumes nothing", "POST", "/run", silent(session="odd", invocationId="none")),
    Asked("a run without parts", "POST", "/run", silent(session="odd", newMessage={"parts": []})),
    Asked("a run with an empty message", "POST", "/run", silent(session="odd", newMessage={})),
    Asked("a run with null", "POST", "/run", run(newMessage=None, session="given")),
    Asked("a run with an invocation", "POST", "/run", run(invocationId="own", session="given")),
    Asked("a run of a wrong streaming", "POST", "/run", run(streaming="maybe")),
    Asked("a run of a streaming in words", "POST", "/run", run(streaming="yes")),
    Asked("a run with a wrong state", "POST", "/run", run(stateDelta=[1])),
    Asked("a run with wrong metadata", "POST", "/run", run(customMetadata=[1])),
    Asked("a run with a wrong invocation", "POST", "/run", run(invocationId=3)),
    Asked("a run with a wrong call", "POST", "/run", run(functionCallEventId=3)),
    Asked("a run with a wrong message", "POST", "/run", run(newMessage="hello")),
    Asked("a run with an unknown member", "POST", "/run", run(color=3)),
    Asked("a run as the model", "POST", "/run", run(newMessage={**_GIVEN, "role": "model"})),
    Asked("a stream of a call", "POST", "/run_sse", run("call draw", functionCallEventId="x")),
    Asked("a run without a user", "POST", "/run", {"appName": "toolbox", "sessionId": "s"}),
    Asked(
        "a run in snake case",
        "POST",
        "/run",
        {"app_name": "toolbox", "user_id": "u", "session_id": "s", "new_message": _GIVEN},
    ),
    Asked("a deferred run", "POST", "/run", run(serviceTier="deferred")),
    Asked("a run of a service tier", "POST", "/run", run(serviceTier="flex")),
    Asked("an unknown service tier", "POST", "/run", run(serviceTier="gold")),
    Asked("a run by form", "POST", "/run", None, {"content-type": "text/plain"}),
    Asked("a stream", "POST", "/run_sse", run("two words", streaming=True)),
    Asked("a stream without parts", "POST", "/run_sse", run("call note")),
    Asked("a stream with a file", "POST", "/run_sse", run("call draw")),
    Asked("a stream with metadata", "POST", "/run_sse", run(customMetadata={"tenant": "t1"})),
    Asked("a stream that fails", "POST", "/run_sse", run("fail", session="t")),
    Asked("a stream of an unknown session", "POST", "/run_sse", run(session="none")),
    Asked("a deferred stream", "POST", "/run_sse", run(serviceTier="deferred", streaming=True)),
    Asked("a session", "GET", _S),
    Asked("the sessions", "GET", f"{_U}/sessions"),
    Asked("a change of the state", "PATCH", f"{_U}/sessions/given", {"stateDelta": {"n": 2}}),
    Asked("a change without a state", "PATCH", f"{_U}/sessions/given", {}),
    Asked("a change of no session", "PATCH", f"{_U}/sessions/none", {"stateDelta": {"n": 2}}),
    Asked("the files", "GET", _F),
    Asked("a file", "GET", f"{_F}/word.txt"),
    Asked("a file of a version", "GET", f"{_F}/word.txt?version=0"),
    Asked("the versions of a file", "GET", f"{_F}/word.txt/versions"),
    Asked("a version", "GET", f"{_F}/word.txt/versions/0"),
    Asked("the latest version", "GET", f"{_F}/word.txt/versions/latest"),
    Asked("an unknown version", "GET", f"{_F}/word.txt/versions/9"),
    Asked("no version", "GET", f"{_F}/word.txt/versions/x"),
    Asked("a version's metadata", "GET", f"{_F}/word.txt/versions/0/metadata"),
    Asked("the versions' metadata", "GET", f"{_F}/word.txt/versions/metadata"),
    Asked("an unknown file", "GET", f"{_F}/none"),
    Asked("the versions of an unknown file", "GET", f"{_F}/none/versions"),
    Asked("the metadata of an unknown file", "GET", f"{_F}/none/versions/0/metadata"),
    Asked("a new file", "POST", _F, {"filename": "a.txt", "artifact": {"text": "hi"}}),
    Asked(
        "a new file of bytes",
        "POST",
        _F,
        {
            "filename": "b.bin",
            "artifact": {"inlineData": {"mimeType": "image/png", "data": "_-8="}},
        },
    ),
    Asked("the new file of bytes", "GET", f"{_F}/b.bin"),
    Asked("a file without a name", "POST", _F, {"artifact": {"text": "hi"}}),
    Asked("a deleted file", "DELETE", f"{_F}/a.txt"),
    Asked("a deleted file again", "DELETE", f"{_F}/a.txt"),
    Asked("a session to remember", "PATCH", f"{_U}/memory", {"sessionId": "s"}),
    Asked("no session to remember", "PATCH", f"{_U}/memory", {"sessionId": "none"}),
    Asked("a memory without a session", "PATCH", f"{_U}/memory", {}),
    Asked("the spans of a session", "GET", f"{_D}/debug/trace/session/s"),
    Asked("the spans of an unknown session", "GET", f"{_D}/debug/trace/session/none"),
    Asked("the trace of an event", "GET", f"{_D}/debug/trace/{{answer}}"),
    Asked("the trace of a tool's event", "GET", f"{_D}/debug/trace/{{result}}"),
    Asked("the trace of an unknown event", "GET", f"{_D}/debug/trace/none"),
    Asked("an app's build", "GET", f"{_D}/build_graph"),
    Asked("the build of an unknown app", "GET", "/dev/apps/nobody/build_graph"),
    Asked("the build of a sequence", "GET", "/dev/apps/steps/build_graph"),
    Asked("a picture of the build", "GET", f"{_D}/build_graph_image"),
    Asked("a dark picture", "GET", f"{_D}/build_graph_image?dark_mode=true"),
    Asked("a picture of a node", "GET", f"{_D}/build_graph_image?node=toolbox/helper"),
    Asked("a picture of no node", "GET", f"{_D}/build_graph_image?node=none"),
    Asked("a picture of a sequence", "GET", "/dev/apps/steps/build_graph_image"),
    Asked("the graph", "GET", f"{_D}/graph"),
    Asked("the dark graph", "GET", f"{_D}/graph?dark_mode=true"),
    Asked("the graph of a sequence", "GET", "/dev/apps/steps/graph"),
    Asked("the build of a workflow", "GET", "/dev/apps/flow/build_graph"),
    Asked("the pictures of a workflow", "GET", "/dev/apps/flow/build_graph_image"),
    Asked("a picture in a workflow", "GET", "/dev/apps/flow/build_graph_image?node=flow/inner"),
    Asked("the graph of a workflow", "GET", "/dev/apps/flow/graph"),
    Asked("the build of groups", "GET", "/dev/apps/groups/build_graph"),
    Asked("the pictures of groups", "GET", "/dev/apps/groups/build_graph_image"),
    Asked("a picture in groups", "GET", "/dev/apps/groups/build_graph_image?node=again/both/two"),
    Asked("the graph of groups", "GET", "/dev/apps/groups/graph"),
    Asked("an event's graph", "GET", f"/dev{_S}/events/{{answer}}/graph"),
    Asked("a call's graph", "GET", f"/dev{_S}/events/{{call}}/graph"),
    Asked("a result's graph", "GET", f"/dev{_S}/events/{{result}}/graph"),
    Asked("no event's graph", "GET", f"/dev{_S}/events/none/graph"),
    Asked("the builder's file", "GET", f"{_D}/builder"),
    Asked("a file of the builder", "GET", f"{_D}/builder?file_path=../x.yaml"),
    Asked("a builder that cancels", "POST", f"{_D}/builder/cancel"),
    Asked("a builder that saves nothing", "POST", f"{_D}/builder/save"),
    Asked("the tests", "GET", f"{_D}/tests"),
    Asked("no tests", "GET", "/dev/apps/steps/tests"),
    Asked("a new test", "PUT", f"{_D}/tests/new", {"session_data": {"b": 1, "a": ["é"]}}),
    Asked("a test without a session", "PUT", f"{_D}/tests/one", {}),
    Asked("a test", "GET", f"{_D}/tests/one"),
    Asked("a test by its file", "GET", f"{_D}/tests/one.json"),
    Asked("an unknown test", "GET", f"{_D}/tests/none"),
    Asked("a deleted test", "DELETE", f"{_D}/tests/new.json"),
    Asked("a deleted test again", "DELETE", f"{_D}/tests/new"),
    Asked("a test elsewhere", "GET", f"{_D}/tests/..%5Cagent"),
    Asked("rebuilt tests", "POST", f"{_D}/tests/rebuild"),
    Asked("the tests of an unknown app", "GET", "/dev/apps/nobody/tests"),
    Asked("no eval sets", "GET", f"{_D}/eval_sets"),
    Asked("no eval sets, the new way", "GET", f"{_D}/eval-sets"),
    Asked("no eval results", "GET", f"{_D}/eval_results"),
    Asked("no eval results, the new way", "GET", f"{_D}/eval-results"),
    Asked("an unknown eval result", "GET", f"{_D}/eval-results/none"),
    Asked("an unknown eval result, the old way", "GET", f"{_D}/eval_results/none"),
    Asked("cases of an unknown eval set", "GET", f"{_D}/eval_sets/none/evals"),
    Asked("an unknown case", "GET", f"{_D}/eval-sets/none/eval-cases/c"),
    Asked("an unknown case, the old way", "GET", f"{_D}/eval_sets/none/evals/c"),
    Asked("the metrics", "GET", f"{_D}/metrics-info"),
    Asked(
        "a new eval set",
        "POST",
        f"{_D}/eval-sets",
        {"eval_set": {"eval_set_id": "es", "eval_cases": []}},
    ),
    Asked("a new eval set, the old way", "POST", f"{_D}/eval_sets/es2"),
    Asked(
        "a session for an eval set",
        "POST",
        f"{_D}/eval-sets/es/add-session",
        {"evalId": "c", "sessionId": "s", "userId": "u"},
    ),
    Asked(
        "a session for an eval set, the old way",
        "POST",
        f"{_D}/eval_sets/es/add_session",
        {"evalId": "d", "sessionId": "s", "userId": "u"},
    ),
    Asked("a case", "PUT", f"{_D}/eval-sets/es/eval-cases/c", _CASE),
    Asked("a case, the old way", "PUT", f"{_D}/eval_sets/es/evals/c", _CASE),
    Asked("a deleted case", "DELETE", f"{_D}/eval-sets/es/eval-cases/c"),
    Asked("a deleted case, the old way", "DELETE", f"{_D}/eval_sets/es/evals/d"),
    Asked(
        "a run of an eval set",
        "POST",
        f"{_D}/eval-sets/es/run",
        {"eval_case_ids": [], "eval_metrics": []},
    ),
    Asked(
        "a run of an eval set, the old way",
        "POST",
        f"{_D}/eval_sets/es/run_eval",
        {"eval_ids": [], "eval_metrics": []},
    ),
    Asked("the telemetry", "GET", "/config/telemetry"),
    Asked("telemetry without the header", "POST", "/config/telemetry", {"telemetry": False}),
    Asked(
        "no telemetry",
        "POST",
        "/config/telemetry",
        {"telemetry": False},
        {"x-adk-telemetry-request": "true"},
    ),
    Asked("an identity", "POST", "/agent-identity/finalize", {"connectorName": "c"}),
    Asked("defaults of a deployment", "GET", f"{_D}/deploy/defaults"),
    Asked("a deployment", "POST", f"{_D}/deploy/cloud_run", {}),
    Asked("a live run by HTTP", "GET", "/run_live"),
    Asked("a trigger", "POST", "/apps/toolbox/trigger/pubsub", {}),
    Asked("a deleted session", "DELETE", f"{_U}/sessions/p"),
    Asked("a deleted session again", "DELETE", f"{_U}/sessions/p"),
    Asked("a wrong method", "PUT", "/list-apps", {}),
    Asked("no such route", "GET", f"{_D}/nothing"),
]

_ID = re.compile(r"(?:adk-|e-|p-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIMES = {
    "timestamp",
    "lastUpdateTime",
    "createTime",
    "creation_timestamp",
    "start_time",
    "end_time",
}
_OWN = {"trace_id", "span_id", "parent_span_id", "canonicalUri", "version"}
"""Fields whose values are specific to each server."""
_OF_THE_SERVER = re.compile(r"fastapi\.|[A-Z]+ /")
"""Names of the web framework's spans."""
_NOT_RECORDED = {"gen_ai.provider.name", "gen_ai.tool.type"}
"""Attributes that devui doesn't record."""
_MORE = re.compile(r"gcp\.vertex\.agent\.(?:llm_|tool_)")
"""Attributes that only devui has, for older front ends."""


def normal(value: Any) -> Any:
    """Return a value without what changes from run to run: ids and times."""
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        return _list(value)
    if isinstance(value, str) and "digraph {" in value:
        return sorted({line.strip() for line in value.splitlines()})
    return _ID.sub("<id>", value) if isinstance(value, str) else value


def _object(value: JSON) -> JSON:
    match value:
        case {"attributes": dict(attributes), "logs": list(logs)}:
            return {
                "name": value["name"],
                "attributes": _comparable_attributes(attributes),
                "logs": normal(logs),
            }
        case {"event_name": name, "attributes": dict(attributes)}:
            return {"name": name, "attributes": _comparable_attributes(attributes)}
        case {"type": "tool_call" | "tool_call_response", "id": _}:
            return {**value, "id": "<id>"}
        case {"gen_ai.operation.name": _}:
            return _comparable_attributes(value)
    return {_ID.sub("<id>", key): _member(key, each) for key, each in value.items()}


def _list(value: list[Any]) -> list[Any]:
    """Sort spans and sessions, whose order is arbitrary."""
    spans = [each for each in value if isinstance(each, dict) and "logs" in each]
    if spans:
        return sorted(map(normal, filter(_is_agents, spans)), key=repr)
    if value and all(isinstance(each, dict) and "lastUpdateTime" in each for each in value):
        return sorted(map(normal, value), key=lambda each: (each["id"], sorted(each["state"])))
    return [normal(each) for each in value]


def _is_agents(span: JSON) -> bool:
    return not _OF_THE_SERVER.match(span["name"])


def _comparable_attributes(attributes: JSON) -> JSON:
    return {
        key: normal(value)
        for key, value in sorted(attributes.items())
        if key not in _NOT_RECORDED | _OWN and not _MORE.match(key)
    }


def _member(key: str, value: Any) -> Any:
    if key in _TIMES and isinstance(value, int | float):
        return "<time>"
    return "<own>" if key in _OWN and value is not None else normal(value)


def outline_of(answer: httpx2.Response) -> JSON:
    """Return the status, media type and normalized content of an answer."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    content: Any = answer.text
    if kind == "application/json":
        content = answer.json()
    elif kind == "text/event-stream":
        content = [json.loads(line[6:]) for line in answer.text.splitlines() if line]
    if answer.status_code >= 400:
        content = _shape(content)
    return {"status": answer.status_code, "type": kind, "body": normal(content)}


def _shape(error: Any) -> Any:
    """Return an error without its messages, which each server words differently."""
    if not isinstance(error, dict) or not isinstance(error.get("detail"), list):
        return {"detail": "<text>"} if isinstance(error, dict) and "detail" in error else "<text>"
    return {"detail": [{"type": each["type"], "loc": each["loc"]} for each in error["detail"]]}


def exchange(client: httpx2.Client) -> Iterator[tuple[Asked, httpx2.Response]]:
    """Send all requests and yield each with its answer."""
    ids: dict[str, str] = {}
    for request in REQUESTS:
        answer = request.of(client, ids)
        if request.name == "a run with a tool":
            ids = dict(
                zip(("call", "result", "answer"), (e["id"] for e in answer.json()), strict=True)
            )
        yield request, answer


def answers(exchanged: Iterable[tuple[Asked, httpx2.Response]]) -> dict[str, JSON]:
    """Return the outlines of all answers by request name."""
    return {request.name: outline_of(answer) for request, answer in exchanged}


_NO_EVAL_SETS = "devui has no eval sets, and says what to use (501)"
_NO_DEPLOYMENT = "devui deploys nothing, and says what to use (501)"
DIFFERENT = {
    "the version": "devui also tells the version of SQLite",
    "a run that fails": "devui tells what the agent raised, in JSON",
    "a run without a message": "devui tells what the agent raised, in JSON",
    "a run with a state alone": "devui tells what the agent raised, in JSON",
    "a run of a sequence": "devui tells what the runtime raised, in JSON",
    "a run without parts": "devui refuses a message that says nothing (422)",
    "a run with an empty message": "devui refuses a message that says nothing (422)",
    "a run by form": "the guard takes JSON only, before anything reads the body",
    "a new file": "devui tells the kind of a text, too",
    "a builder that saves nothing": "devui writes no agents from the browser (403)",
    "a new test": "devui does not write to the agents folder (403)",
    "a test without a session": "devui does not write to the agents folder (403)",
    "a deleted test": "devui does not write to the agents folder (403)",
    "a deleted test again": "devui does not write to the agents folder (403)",
    "rebuilt tests": "google-adk lacks pytest here (500); devui says what to use (501)",
    "the metrics": "google-adk lacks its evaluations here (400); devui has no metrics",
    "the telemetry": "devui reports to nobody, and asks nobody whether it may",
    "the tests of an unknown app": "devui says that there is no such app (404)",
    "the build of a workflow": "devui tells edges that join as a list, google-adk as Python's text",
    "the graph of a workflow": "google-adk's cannot draw workflows with functions (500)",
    "an identity": "devui finalizes no Agent Identity (501)",
    "a live run by HTTP": "devui says what to use (501)",
    "defaults of a deployment": _NO_DEPLOYMENT,
    "a deployment": _NO_DEPLOYMENT,
    "a new eval set": _NO_EVAL_SETS,
    "a new eval set, the old way": _NO_EVAL_SETS,
    "a session for an eval set": _NO_EVAL_SETS,
    "a session for an eval set, the old way": _NO_EVAL_SETS,
    "a case": _NO_EVAL_SETS,
    "a case, the old way": _NO_EVAL_SETS,
    "a deleted case": _NO_EVAL_SETS,
    "a deleted case, the old way": _NO_EVAL_SETS,
    "a run of an eval set": _NO_EVAL_SETS,
    "a run of an eval set, the old way": _NO_EVAL_SETS,
}
"""Requests that devui answers differently on every engine, with the reason."""
ON_OUR_ENGINE = {
    "a run to confirm": "the words of the runtime's question are its own",
    "a stream of a sequence": "the words of the runtime's error are its own",
    "a run that resumes nothing": "the runtime resumes no invocation that is not there",
    "the spans of a session": "the instructions that the runtime adds are its own",
    "the trace of an event": "the tool to hand over is described in the runtime's own words",
}
"""Requests that devui answers differently on its own runtime only."""
