"""A late step of a long invocation does no more work than an early one.

Function calls are counted, since times depend on the machine. Source: runtime seed ("history
changes only at its end").
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LoopAgent, RunConfig
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import Event
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import FunctionTool
from tests.kit.long_sessions import Counter, after, agent, call, say

WHERE = {"user_id": "u", "session_id": "s"}
SHORT, LONG = 40, 400
"""Numbers of steps."""

Rule = Callable[[types.Part], types.Part]


def look(what: str) -> dict[str, str]:
    """Look at something."""
    return {"seen": what}


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def steps(number: int, step: types.Part, *, fails_at: int | None = None) -> Rule:
    """Return a rule for `number` answers: `step` each time, then a text; one of them may fail."""
    numbers = count(1)

    def answer(last: types.Part) -> types.Part:
        this = next(numbers)
        if this == fails_at:
            raise ConnectionError("offline")
        return step.model_copy(deep=True) if this < number else say("done")

    return answer


def looker(number: int, name: str = "root", **fields: Any) -> BaseAgent:
    fails_at = fields.pop("fails_at", None)
    rule = steps(number, call("look", what="it"), fails_at=fails_at)
    return agent(name, rule, tools=[look], **fields)


def payer(number: int) -> BaseAgent:
    numbers, rule = count(), steps(number, call("look", what="it"))

    def answer(last: types.Part) -> types.Part:
        return rule(last) if next(numbers) else call("pay", amount=5)

    tools = [look, FunctionTool(pay, require_confirmation=True)]
    return agent("root", answer, tools=tools)


def chief(number: int, *below: BaseAgent) -> BaseAgent:
    rule = steps(number, call(below[0].name, request="x"))
    return agent("root", rule, sub_agents=list(below))


def _helper(mode: str) -> BaseAgent:
    rule = after("", say(""), call("finish_task", result="it") if mode == "task" else say("x"))
    return agent("helper", rule, mode=mode)


def _talker(number: int, *, fails_at: int | None = None) -> BaseAgent:
    return agent("talker", steps(number + 9, say("x"), fails_at=fails_at))


def _loop(number: int, **fields: Any) -> BaseAgent:
    return LoopAgent(name="root", sub_agents=[_talker(number, **fields)], max_iterations=number)


def _once(number: int) -> BaseAgent:
    rule = after("expert", say("ok"), call("expert", request="x"))
    return agent("root", rule, sub_agents=[looker(number, "expert", mode="single_turn")])


KINDS: dict[str, Callable[[int], BaseAgent]] = {
    "calls": looker,
    "calls of which one was confirmed": payer,
    "calls after a failure": lambda number: looker(number, fails_at=2),
    "calls by who sees the current turn alone": lambda n: looker(n, include_contents="none"),
    "calls by an expert": _once,
    "experts": lambda number: chief(number, _helper("single_turn")),
    "tasks": lambda number: chief(number, _helper("task")),
    "rounds": _loop,
    "rounds after a failure": lambda number: _loop(number, fails_at=2),
}


async def _run(runner: InMemoryRunner, **what: Any) -> list[Event]:
    events = []
    config = RunConfig(max_llm_calls=0)
    try:
        async for event in runner.run_async(**WHERE, **what, run_config=config):
            events.append(event)
    except ConnectionError:
        pass
    return events


def _next(events: list[Event]) -> dict[str, Any]:
    """Return the arguments that continue an invocation that asks something or has failed."""
    for event in events:
        for question in event.get_function_calls():
            if question.name == "adk_request_confirmation":
                response = types.FunctionResponse(
                    id=question.id, name=question.name, response={"confirmed": True}
                )
                part = types.Part(function_response=response)
                return {"new_message": types.Content(role="user", parts=[part])}
    return {"invocation_id": events[-1].invocation_id}


async def calls_of_a_step(root: BaseAgent, steps: int, *, resumable: bool) -> float:
    """Return how many functions are called per step of the invocation or of its continuation."""
    settings = ResumabilityConfig(is_resumable=resumable)
    runner = InMemoryRunner(app=App(name="app", root_agent=root, resumability_config=settings))
    await runner.session_service.create_session(app_name="app", **WHERE)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    counter = Counter()
    with counter.watching(), counter.counting():
        events = await _run(runner, new_message=message)
    if len(events) < steps:
        with counter.watching(), counter.counting():
            events = await _run(runner, **_next(events))
    assert len(events) >= steps
    return counter.calls / steps


@pytest.mark.slow
@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_step_of_a_long_invocation_does_no_more_than_one_of_a_short_one(kind, resumable):
    if "rounds after" in kind and not resumable:
        pytest.skip("a workflow agent goes on from checkpoints")
    await calls_of_a_step(KINDS[kind](SHORT), SHORT, resumable=resumable)  # one-time work
    short = await calls_of_a_step(KINDS[kind](SHORT), SHORT, resumable=resumable)
    long = await calls_of_a_step(KINDS[kind](LONG), LONG, resumable=resumable)
    assert long < 1.1 * short
