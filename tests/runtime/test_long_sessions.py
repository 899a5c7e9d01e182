"""A turn on a long session does no more work than one on a short session.

Function calls are counted in all threads, since times depend on the machine. Reads of old events
are counted too, since a loop over them may call nothing. Source: runtime seed ("history changes
only at its end").
"""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest
from google.genai import types

from devui.runtime import Workflow
from devui.runtime.agents import (
    BaseAgent,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    RunConfig,
    SequentialAgent,
)
from devui.runtime.agents.context_cache_config import ContextCacheConfig
from devui.runtime.apps import App, EventsCompactionConfig, ResumabilityConfig
from devui.runtime.apps.configs import BaseEventsSummarizer
from devui.runtime.auth import AuthConfig, AuthCredential, AuthCredentialTypes
from devui.runtime.auth.auth_schemes import APIKey
from devui.runtime.code_executors import BaseCodeExecutor
from devui.runtime.code_executors.code_execution_utils import CodeExecutionResult
from devui.runtime.events import Event, EventActions, RequestInput
from devui.runtime.events.event_actions import EventCompaction
from devui.runtime.planners import PlanReActPlanner
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService, Session
from devui.runtime.sessions.base_session_service import BaseSessionService
from devui.runtime.sessions.sqlite_session_service import SqliteSessionService
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from tests.kit.long_sessions import (
    HISTORY_BEGAN,
    WHO,
    CountedEvent,
    Counter,
    after,
    agent,
    call,
    grown,
    say,
)

BUILDS, SHORT, LONG = 8, 40, 1_000
"""Numbers of events; the run with the first number does the one-time work."""
AHEAD = 4e9
"""A time ahead of every clock here."""
TURNS = 4
"""The number of turns; the first ones also do one-time work."""
KEY = AuthConfig(auth_scheme=APIKey(**{"in": "header", "name": "X-Key"}))


def look(what: str) -> dict[str, str]:
    """Look at something."""
    return {"seen": what}


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def job(what: str) -> dict[str, str]:
    """Begin a job."""
    return {"status": "pending"}


async def read(page: int, tool_context: ToolContext) -> dict[str, object]:
    """Read a page."""
    if tool_context.get_auth_response(KEY) is None:
        tool_context.request_credential(KEY)
        return {"status": "a credential is needed"}
    return {"page": page}


@dataclass
class Turn:
    """A turn: the agent, its messages, and the answer to its call, if there is one."""

    root: Any
    asks: str | None = None
    """The function whose call is answered; the continued turn is measured."""
    answer: dict[str, object] = field(default_factory=dict)
    between: str | None = None
    """The message between the call and the answer."""
    then: str | None = None
    """A second message; the turn that follows is measured."""
    resumable: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    """More settings of the app."""


def _text(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


def looker(name: str = "root", **fields: Any) -> LlmAgent:
    rule = after("look", say("done"), call("look", what="it"))
    return agent(name, rule, tools=[look], **fields)


def payer(name: str = "root", **fields: Any) -> LlmAgent:
    def rule(last: types.Part) -> types.Part:
        if last.text == "something else":
            return say("fine")
        return say("paid") if last.function_response else call("pay", amount=5)

    tool = FunctionTool(pay, require_confirmation=True)
    return agent(name, rule, tools=[tool], **fields)


def planner(*, asks: bool) -> LlmAgent:
    def rule(last: types.Part) -> types.Part:
        ready = last.text == "Rome" or not asks or last.function_response
        return call("finish_task", result="it") if ready else say("Which city?")

    return agent("planner", rule, mode="task")


def chief(*below: BaseAgent, asks: str) -> LlmAgent:
    rule = after(asks, say("ok"), call(asks, request="x"))
    return agent("root", rule, sub_agents=list(below))


def confirmed(root: BaseAgent, **fields: Any) -> Turn:
    return Turn(root, asks="adk_request_confirmation", answer={"confirmed": True}, **fields)


class Runs(BaseCodeExecutor):
    """A code executor that runs nothing."""

    def execute_code(self, invocation_context: Any, code_execution_input: Any) -> Any:
        return CodeExecutionResult(stdout="ran")


class Sums(BaseEventsSummarizer):
    """A summarizer that answers with two words."""

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event:
        compaction = EventCompaction(
            start_timestamp=events[0].timestamp,
            end_timestamp=events[-1].timestamp,
            compacted_content=types.ModelContent("so far"),
        )
        actions = EventActions(compaction=compaction)
        return Event(author="user", invocation_id=Event.new_id(), actions=actions)


def summed_up(**settings: int) -> dict[str, object]:
    return {"events_compaction_config": EventsCompactionConfig(summarizer=Sums(), **settings)}


def _first(node_input: str) -> str:
    return "x"


def _last(node_input: Any) -> str:
    return "y"


def _ask(node_input: str) -> Iterator[RequestInput]:
    yield RequestInput(message="how many?")


def flow(*nodes: Any) -> Workflow:
    return Workflow(name="root", edges=[("START", *nodes)])


def _jobs() -> LlmAgent:
    rule = after("job", say("ok"), call("job", what="it"))
    return agent("root", rule, tools=[LongRunningFunctionTool(job)])


def _reader() -> LlmAgent:
    return agent("root", after("read", say("ok"), call("read", page=1)), tools=[read])


TURNS_OF = {
    "a tool": lambda: Turn(looker()),
    "a tool, resumable": lambda: Turn(looker(), resumable=True),
    "the current turn alone": lambda: Turn(looker(include_contents="none")),
    "a confirmation": lambda: confirmed(payer()),
    "a confirmation, resumable": lambda: confirmed(payer(), resumable=True),
    "a confirmation after another turn": lambda: confirmed(payer(), between="something else"),
    "a job": lambda: Turn(_jobs(), asks="job", answer={"status": "done"}),
    "a credential": lambda: Turn(_reader(), asks="adk_request_credential"),
    "a confirmation in a sequence": lambda: confirmed(
        SequentialAgent(name="root", sub_agents=[looker("a"), payer("b")])
    ),
    "a confirmation in a loop": lambda: confirmed(
        LoopAgent(name="root", sub_agents=[payer("b")], max_iterations=1)
    ),
    "a confirmation side by side": lambda: confirmed(
        ParallelAgent(name="root", sub_agents=[looker("a"), payer("b")])
    ),
    "a confirmation of an expert": lambda: confirmed(
        chief(payer("expert", mode="single_turn"), asks="expert")
    ),
    "an expert": lambda: Turn(chief(looker("expert", mode="single_turn"), asks="expert")),
    "an expert that sees the conversation": lambda: Turn(
        chief(looker("expert", mode="single_turn", include_contents="default"), asks="expert")
    ),
    "a plan": lambda: Turn(looker(planner=PlanReActPlanner())),
    "a code executor": lambda: Turn(looker(code_executor=Runs())),
    "data files": lambda: Turn(looker(code_executor=Runs(optimize_data_file=True))),
    "a cache of requests": lambda: Turn(
        looker(), settings={"context_cache_config": ContextCacheConfig()}
    ),
    "summaries of invocations": lambda: Turn(
        looker(), settings=summed_up(compaction_interval=3, overlap_size=1)
    ),
    "summaries of big prompts": lambda: Turn(
        looker(), settings=summed_up(token_threshold=10**9, event_retention_size=3)
    ),
    "a task": lambda: Turn(chief(planner(asks=False), asks="planner")),
    "words to a task": lambda: Turn(chief(planner(asks=True), asks="planner"), then="Rome"),
    "a workflow": lambda: Turn(flow(_first)),
    "a workflow, resumable": lambda: Turn(flow(_first), resumable=True),
    "an answer to a workflow": lambda: Turn(
        flow(_first, _ask, _last), asks="adk_request_input", answer={"result": "5"}
    ),
}


@pytest.fixture
def counter() -> Iterator[Counter]:
    counter = Counter()
    with counter.watching():
        yield counter


@pytest.fixture(scope="module")
def histories(tmp_path_factory) -> Path:
    """A file with all sessions that these tests continue; writing them takes a second."""
    file = tmp_path_factory.mktemp("histories") / "sessions.db"

    async def write() -> None:
        service = SqliteSessionService(file)
        for events, began in product((BUILDS, SHORT, LONG), (HISTORY_BEGAN, AHEAD)):
            await grown(service, events, author="root", began=began)
        await service.close()

    asyncio.run(write())
    return file


@pytest.fixture(params=["memory", "sqlite"])
def service(request, tmp_path, histories, counter, monkeypatch) -> BaseSessionService:
    """A service whose threads start under the counter and do all of its file access."""
    if request.param == "memory":
        return InMemorySessionService()
    monkeypatch.setattr("devui.runtime.databases._ON_THE_SPOT", 0)  # or disk speed would count
    return SqliteSessionService(shutil.copy(histories, tmp_path / "sessions.db"))


def _reply(turn: Turn, events: list[Event]) -> types.Content:
    [question] = [c for e in events for c in e.get_function_calls() if c.name == turn.asks]
    answer = turn.answer
    if turn.asks == "adk_request_credential":
        key = AuthCredential(auth_type=AuthCredentialTypes.API_KEY, api_key="k-1")
        credential = key.model_dump(mode="json", by_alias=True, exclude_none=True)
        answer = {**question.args["authConfig"], "exchangedAuthCredential": credential}
    response = types.FunctionResponse(id=question.id, name=question.name, response=answer)
    return types.Content(role="user", parts=[types.Part(function_response=response)])


@dataclass
class Work:
    """The work of the last turn."""

    calls: int
    reads: int


async def work_of(
    turn: Turn,
    service: BaseSessionService,
    counter: Counter,
    events: int,
    began: float = HISTORY_BEGAN,
) -> Work:
    session = await grown(service, events, author="root", kind=CountedEvent, began=began)
    settings = ResumabilityConfig(is_resumable=turn.resumable)
    app = App(
        name=WHO["app_name"], root_agent=turn.root, resumability_config=settings, **turn.settings
    )
    runner = Runner(app=app, session_service=service)

    async def run(message: types.Content) -> list[Event]:
        where = {"user_id": WHO["user_id"], "session_id": session.id}
        run = runner.run_async(**where, new_message=message, run_config=RunConfig())
        return [event async for event in run]

    for _ in range(TURNS):
        message = _text("go")
        if turn.asks or turn.then:
            first = await run(message)
            message = _reply(turn, first) if turn.asks else _text(turn.then)
        if turn.between:
            await run(_text(turn.between))
        CountedEvent.reads = 0
        with counter.counting():
            last = await run(message)
        assert any(event.content or event.output for event in last)
    return Work(counter.calls, CountedEvent.reads)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TURNS_OF)
async def test_a_turn_on_a_long_session_does_no_more_than_on_a_short_one(kind, service, counter):
    await work_of(TURNS_OF[kind](), service, counter, BUILDS)
    short = await work_of(TURNS_OF[kind](), service, counter, SHORT)
    long = await work_of(TURNS_OF[kind](), service, counter, LONG)
    assert long.calls < 1.1 * short.calls
    assert long.reads <= short.reads + SHORT


async def test_a_turn_on_a_long_session_ahead_of_the_clock_does_no_more(service, counter):
    await work_of(Turn(looker()), service, counter, BUILDS, AHEAD)
    short = await work_of(Turn(looker()), service, counter, SHORT, AHEAD)
    long = await work_of(Turn(looker()), service, counter, LONG, AHEAD)
    assert long.calls < 1.1 * short.calls
    assert long.reads <= short.reads + SHORT


class Walked(list[Event]):
    """A list that counts how many of its events are iterated over, indexed or copied."""

    count: ClassVar[int] = 0

    def __iter__(self) -> Iterator[Event]:
        for event in super().__iter__():
            Walked.count += 1
            yield event

    def __getitem__(self, place: Any) -> Any:
        items = super().__getitem__(place)
        Walked.count += len(items) if isinstance(place, slice) else 1
        return items


class Walking(InMemorySessionService):
    async def get_session(self, **where: Any) -> Session | None:
        session = await super().get_session(**where)
        if session is not None:
            session.events = Walked(session.events)
        return session


def looks(last: types.Part) -> types.Part:
    """Return as many calls in a row as the message says, and then an answer."""
    response = last.function_response
    remaining = int(response.response["seen"]) - 1 if response else int(last.text)
    return call("look", what=str(remaining)) if remaining else say("done")


async def walked(events: int, steps: int, began: float) -> int:
    service = Walking()
    session = await grown(service, events, author="root", began=began)
    runner = Runner(
        app_name=WHO["app_name"], agent=agent("root", looks, tools=[look]), session_service=service
    )
    for _ in range(2):
        Walked.count = 0
        where = {"user_id": WHO["user_id"], "session_id": session.id}
        async for _event in runner.run_async(**where, new_message=_text(str(steps))):
            pass
    return Walked.count


@pytest.mark.parametrize("began", [HISTORY_BEGAN, AHEAD])
async def test_further_steps_of_a_turn_read_no_old_events(began):
    short = await walked(SHORT, 9, began) - await walked(SHORT, 2, began)
    long = await walked(LONG, 9, began) - await walked(LONG, 2, began)
    assert long <= short
