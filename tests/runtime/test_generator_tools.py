"""Tools that report their progress: generators (adk-runtime 8.2)."""

import asyncio
import threading
from contextlib import aclosing

import pytest

from devui.runtime.agents import Agent
from devui.runtime.calling import THREAD_NAME_PREFIX
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool
from devui.runtime.tools.agent_tool import AgentTool
from tests.kit.patience import PATIENCE
from tests.kit.stages import WHERE, run, runner_of, said, stored, texts
from tests.kit.turns import answer, calls, invocation_of, responses, said_by


def agent_of(*tools) -> Agent:
    names = [tool.name if hasattr(tool, "name") else tool.__name__ for tool in tools]
    rules = [Rule(after=names[0], then=Say("done")), Rule(then=[Call(name) for name in names])]
    return Agent(name="agent", model=ScriptedLlm(rules=rules), tools=[*tools])


async def test_a_generator_continues_once_its_event_is_committed():
    states = []

    async def count(tool_context):
        for number in range(3):
            tool_context.state["n"] = number
            yield Event(message=f"step {number}")
            stored_now = await stored(runner)
            states.append((texts(stored_now.events)[-1], stored_now.state["n"]))
        yield {"steps": 3}

    runner = runner_of(agent_of(count))
    events = await run(runner)
    assert states == [("step 0", 0), ("step 1", 1), ("step 2", 2)]
    assert responses(events) == [("count", {"steps": 3})]
    branches = {event.branch for event in events if event.author == "count"}
    assert branches == {f"count@{events[0].get_function_calls()[0].id}"}


async def test_events_of_a_generator_are_not_sent_to_the_model():
    async def count():
        yield Event(message="between us")
        yield 1

    agent = agent_of(count)
    runner = runner_of(agent)
    await run(runner)
    await run(runner, "again")
    assert "between us" not in str([request.contents for request in agent.model.requests])


async def test_a_plain_generator_runs_in_threads():
    where = []

    def count():
        where.append(threading.current_thread().name)
        yield Event(message="half")
        where.append(threading.current_thread().name)
        yield "whole"

    events = await run(runner_of(agent_of(count)))
    assert all(name.startswith(THREAD_NAME_PREFIX) for name in where)
    assert said_by("count", events) == ["half"]
    assert responses(events) == [("count", {"result": "whole"})]


@pytest.mark.parametrize("plain", [True, False])
async def test_a_generator_is_closed_when_the_caller_leaves(plain):
    closed = threading.Event()

    def count():
        try:
            yield Event(message="half")
            yield 1
        finally:
            closed.set()

    async def count_async():
        try:
            yield Event(message="half")
            yield 1
        finally:
            closed.set()

    runner = runner_of(agent_of(count if plain else count_async))
    async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
        async for event in events:
            if event.author.startswith("count"):
                break
    assert closed.is_set()


async def test_a_stopped_run_does_not_wait_for_a_step_of_a_plain_generator():
    begun, release, ended = threading.Event(), threading.Event(), threading.Event()

    def count():
        begun.set()
        release.wait(PATIENCE)
        ended.set()
        yield 1

    turn = asyncio.create_task(run(runner_of(agent_of(count))))
    await asyncio.to_thread(begun.wait)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert not ended.is_set()
    release.set()


async def test_a_failed_generator_is_rerun_on_resume():
    failures = [ConnectionError("offline")]

    async def count():
        yield Event(message="try")
        if failures:
            raise failures.pop()
        yield "there"

    runner = runner_of(agent_of(count))
    with pytest.raises(ConnectionError):
        await run(runner)
    errors = [event for event in (await stored(runner)).events if event.error_code]
    assert [event.author for event in errors] == ["count", "agent"]
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert responses(events) == [("count", {"result": "there"})]
    assert said_by("agent", events) == ["done"]


async def test_two_results_are_an_error():
    async def count():
        yield 1
        yield 2

    with pytest.raises(ValueError, match="'count' yielded two results, 1 and 2"):
        await run(runner_of(agent_of(count)))


async def test_a_generator_works_inside_an_agent_tool():
    async def count():
        yield Event(message="inside")
        yield 1

    inner = Agent(
        name="inner",
        model=ScriptedLlm(rules=[Rule(after="count", then=Say("one")), Rule(then=Call("count"))]),
        tools=[count],
    )
    rules = [
        Rule(after="inner", then=Say("done")),
        Rule(then=Call("inner", request="count")),
    ]
    agent = Agent(name="agent", model=ScriptedLlm(rules=rules), tools=[AgentTool(inner)])
    assert responses(await run(runner_of(agent))) == [("inner", {"result": "one"})]


async def test_a_confirmed_generator_reports_its_progress():
    async def count():
        yield Event(message="half")
        yield 1

    agent = agent_of(FunctionTool(count, require_confirmation=True))
    runner = runner_of(agent)
    [request] = [call for call in calls(await run(runner)) if call.name != "count"]
    events = await answer(runner, (request, {"confirmed": True}))
    assert said_by("count", events) == ["half"]
    assert responses(events) == [("count", {"result": 1})]
