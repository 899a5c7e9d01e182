"""The most common mistakes in agent code, with the full error that their author sees.

Each is the file of an app, which is imported and run as in the worker. Its error is reported as in
the worker, with the file and line of the author's code.
"""

import logging
import sys
from pathlib import Path

import pytest

from devui.runtime.apps import App
from devui.runtime.runners import InMemoryRunner
from devui.worker.errors import agent_error
from devui.worker.loading import load
from tests.kit.conversation import Conversation

HEAD = """\
from google.genai import types
from pydantic import BaseModel
from devui.runtime.agents import BaseAgent, LlmAgent, LoopAgent, RunConfig
from devui.runtime.apps import App
from devui.runtime.events import Event
from devui.runtime.models import BaseLlm, Call, LlmResponse, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin, LoggingPlugin
from devui.runtime.tools import AgentTool, BaseTool, BaseToolset, FunctionTool
class City(BaseModel):
    name: str
def look() -> str:
    "Looks."
    return "ok"
def says(text="Hello."):
    return ScriptedLlm(rules=[Rule(then=Say(text))])
def calls(name, **args):
    return ScriptedLlm(rules=[Rule(after=name, then=Say("Done.")), Rule(then=Call(name, **args))])
"""
"""The beginning of all apps in this module; their own code starts at line 18."""


def _table(kind: str) -> dict[str, tuple[str, str]]:
    """Return apps and their errors by the name of the mistake."""
    text = (Path(__file__).parent / "data" / "mistakes.txt").read_text(encoding="utf-8")
    apps = {}
    for section in text.split("\n=== ")[1:]:
        title, _, rest = section.partition("\n")
        when, _, name = title.partition(": ")
        body, _, message = rest.partition("\n--- told\n")
        if when == kind:
            apps[name] = f"{body}\n", message.strip()
    return apps


IMPORTING, RUNNING = _table("imported"), _table("run")


@pytest.fixture
def app(tmp_path, monkeypatch):
    """A function that writes an app, imports it, runs it once and returns the error's report."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    async def run_app(body: str, *, runs: bool) -> str:
        folder = tmp_path / "app_with_a_mistake"
        folder.mkdir()
        (folder / "agent.py").write_text(HEAD + body)
        try:
            target = load(tmp_path, folder.name)
            assert runs, "the import should have failed"
            await _run(target)
        except Exception as error:  # noqa: BLE001  any error must be reported
            report = agent_error(error, tmp_path)
            own = report.file and not report.file.startswith("/")
            place = f"{report.file}:{report.line}: " if own else ""
            return f"{place}{report.type}: {report.message}".replace(f"{tmp_path}/", "")
        finally:
            for name in [name for name in sys.modules if name.startswith(folder.name)]:
                del sys.modules[name]
        return "nothing"

    return run_app


async def _run(target):
    conversation = Conversation(target.root_agent if isinstance(target, App) else target)
    if isinstance(target, App):
        conversation.runner = InMemoryRunner(app=target)
    await conversation.say("go")


@pytest.mark.parametrize("mistake", IMPORTING)
async def test_a_mistake_is_reported_when_the_app_is_imported(app, mistake):
    body, message = IMPORTING[mistake]
    assert await app(body, runs=False) == message


@pytest.mark.parametrize("mistake", RUNNING)
async def test_a_mistake_is_reported_when_the_agent_runs(app, mistake):
    body, message = RUNNING[mistake]
    assert await app(body, runs=True) == message


NAMESAKE = """\
one, other = (LlmAgent(name="helper", model=says()) for _ in range(2))
root_agent = LlmAgent(name="agent", model=says(), sub_agents=[one, other])
"""
UNTYPED = """\
def find(what: "Nothing"):
    "Finds."
root_agent = LlmAgent(name="agent", model=says(), tools=[find])
"""
UNDECLARED = """\
class Mine(BaseTool):
    async def run_async(self, *, args, tool_context): ...
root_agent = LlmAgent(name="agent", model=says(), tools=[Mine(name="mine", description="Mine.")])
"""
UNANNOTATED = """\
def note(text: str, ctx):
    "Notes."
root_agent = LlmAgent(name="agent", model=says(), tools=[note])
"""
WRAPPED = """\
def logged(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper
root_agent = LlmAgent(name="agent", model=says(), tools=[logged(look)])
"""
NO_HOOK = """\
class Mine(BasePlugin):
    async def before_model(self, *, callback_context, llm_request): ...
app = App(name="app", root_agent=LlmAgent(name="agent", model=says()), plugins=[Mine(name="mine")])
"""
NO_JSON = """\
from devui.runtime.events import EventActions
Event(author="agent", actions=EventActions(state_delta={"lock": look, "n": 1})).model_dump_json()
root_agent = LlmAgent(name="agent", model=says())
"""
NOT_ASYNC = """\
class Mine(BaseToolset):
    def get_tools(self, readonly_context=None):
        return [FunctionTool(look)]
root_agent = LlmAgent(name="agent", model=says(), tools=[Mine()])
"""
NO_CONTEXT = """\
class Mine(BaseToolset):
    async def get_tools(self):
        return [FunctionTool(look)]
root_agent = LlmAgent(name="agent", model=says(), tools=[Mine()])
"""
WARNINGS = {
    NAMESAKE: "Agents share the names ['helper']; only the first of each is found. Rename the"
    " others.",
    UNTYPED: "Tool 'find' has an annotation that cannot be resolved (name 'Nothing' is not"
    " defined): its parameters are not declared to the model. Import the type at the top of the"
    " tool's module.",
}


@pytest.mark.parametrize("body", WARNINGS, ids=["names of agents", "annotations"])
async def test_a_possible_mistake_causes_a_warning(app, body, caplog):
    with caplog.at_level(logging.WARNING):
        assert await app(body, runs=True) == "nothing"
    assert caplog.messages == [WARNINGS[body]]


IGNORED = {
    "from devui.runtime.apps import ResumabilityConfig\nResumabilityConfig(resumable=True)": (
        "ResumabilityConfig has no `resumable`; did you mean `is_resumable`?"
    ),
    "from devui.runtime.workflow import RetryConfig\nRetryConfig(max_attempt=3)": (
        "RetryConfig has no `max_attempt`; did you mean `max_attempts`?"
    ),
    "from devui.runtime import Workflow\nWorkflow(name='wf', timeouts=3)": (
        "Workflow has no `timeouts`; did you mean `timeout`?"
    ),
    "from devui.runtime.workflow import JoinNode\nJoinNode(name='join', wait=True)": (
        "JoinNode has no `wait`; did you mean `wait_for_output`?"
    ),
    "from devui.runtime.models import Gemini\nGemini(model_name='gemini-2.5-pro')": (
        "Gemini has no `model_name`."
    ),
    "from devui.runtime.code_executors import UnsafeLocalCodeExecutor\n"
    "UnsafeLocalCodeExecutor(timeout_second=3)": (
        "UnsafeLocalCodeExecutor has no `timeout_second`; did you mean `timeout_seconds`?"
    ),
    "from devui.runtime.auth.auth_credential import AuthCredential\n"
    "AuthCredential(auth_type='apiKey', apikey='k')": (
        "AuthCredential has no `apikey`; did you mean `api_key`?"
    ),
    "from devui.runtime.sessions.base_session_service import GetSessionConfig\n"
    "GetSessionConfig(num_recent_event=3)": (
        "GetSessionConfig has no `num_recent_event`; did you mean `num_recent_events`?"
    ),
    "from devui.runtime.models import LlmRequest\nLlmRequest(content=[])": (
        "LlmRequest has no `content`; did you mean `contents`?"
    ),
    "\nEvent(author='agent', contents=types.Content())": (
        "Event has no `contents`; did you mean `content`?"
    ),
    "\nEvent(athor='agent', message='Hello.')": "Event has no `athor`; did you mean `author`?",
    "from devui.runtime.events import RequestInput\nRequestInput(messages='Well?')": (
        "RequestInput has no `messages`; did you mean `message`?"
    ),
    "from devui.runtime.tools.mcp_tool import StreamableHTTPConnectionParams\n"
    "StreamableHTTPConnectionParams(url='http://a', header={})": (
        "StreamableHTTPConnectionParams has no `header`; did you mean `headers`?"
    ),
    "\nEvent(author='agent', text='Hello.')": (
        'Event has no `text`; pass content=types.Content(role="model",'
        " parts=[types.Part(text=...)])."
    ),
    "\nEvent(author='agent', state_delta={'a': 1})": (
        "Event has no `state_delta`; pass actions=EventActions(state_delta=...)."
    ),
}


@pytest.mark.parametrize("body", IGNORED, ids=range(len(IGNORED)))
async def test_an_ignored_argument_causes_a_warning(app, body, caplog, tmp_path):
    root = "root_agent = LlmAgent(name='agent', model=says())\n"
    with caplog.at_level(logging.WARNING):
        assert await app(f"{body}\n{root}", runs=True) == "nothing"
    place = f"{tmp_path}/app_with_a_mistake/agent.py:19"
    assert caplog.messages == [f"{IGNORED[body]} It is ignored ({place})."]


IDLE = {
    "from devui.runtime.agents import SequentialAgent\nroot_agent = SequentialAgent(name='idle')": (
        "Agent 'idle' has nothing to do: it runs its `sub_agents`, and has none."
    ),
    "root_agent = LoopAgent(name='idle')": (
        "Agent 'idle' has nothing to do: it runs its `sub_agents`, and has none."
    ),
    "from devui.runtime import Workflow\nroot_agent = Workflow(name='idle')": (
        "Workflow 'idle' has nothing to do: it has no `edges`."
    ),
}


@pytest.mark.parametrize("body", IDLE, ids=["sequence", "loop", "graph"])
async def test_an_agent_that_does_nothing_causes_a_warning(app, body, caplog):
    with caplog.at_level(logging.WARNING):
        assert await app(f"{body}\n", runs=True) == "nothing"
    assert caplog.messages == [IDLE[body]]


NO_IS_YES = """def stop(tool_context):
    "Stops."
    tool_context.actions.escalate = "no"
root_agent = LlmAgent(name="agent", model=calls("stop"), tools=[stop])
"""
PLACED = {
    NO_IS_YES: "`escalate` is 'no' (str), which counts as True (AGENT:20).",
    UNDECLARED: "Tool 'mine' is not offered to the model because Mine (AGENT:18) does not declare"
    " it. Define _get_declaration(self) and return a types.FunctionDeclaration.",
    UNANNOTATED: "Tool 'note': the model has to fill in `ctx` of note (AGENT:18). If it is meant to"
    " be the context, annotate it: `ctx: ToolContext`.",
    WRAPPED: "Tool 'wrapper' declares no parameters to the model, because wrapper (AGENT:19) takes"
    " any arguments. If it is a decorator's wrapper, add @functools.wraps(function) to it.",
    NO_HOOK: "Plugin 'mine': before_model (AGENT:19) is not a hook, so nothing calls it; did"
    " you mean `before_model_callback`?",
    NO_JSON: "The value of 'lock' in an event is not JSON-serializable; storing its repr.",
    NOT_ASYNC: "Agent 'agent' runs without the tools of Mine, which could not be listed: get_tools"
    " (AGENT:19) is a plain function. Define it with `async def`.",
    NO_CONTEXT: "Agent 'agent' runs without the tools of Mine, which could not be listed: get_tools"
    " (AGENT:19), which lists the tools of Mine, takes (), but is called with a ReadonlyContext."
    " Add that parameter.",
}


@pytest.mark.parametrize(
    "body",
    PLACED,
    ids=["flag", "tools", "contexts", "wrappers", "hooks", "state", "not async", "no context"],
)
async def test_code_that_does_not_work_as_intended_causes_a_warning(app, body, caplog, tmp_path):
    with caplog.at_level(logging.WARNING):
        assert await app(body, runs=True) == "nothing"
    agent = f"{tmp_path}/app_with_a_mistake/agent.py"
    assert caplog.messages == [PLACED[body].replace("AGENT", agent)]
