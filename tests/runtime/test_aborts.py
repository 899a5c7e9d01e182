"""Aborting a running invocation (adk-runtime 3.7)."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, ParallelAgent, SequentialAgent
from devui.runtime.events import Event
from devui.runtime.models import BaseLlm, Call, LlmResponse, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.workflow import START, Workflow
from tests.kit.patience import PATIENCE

ABORTED = "INVOCATION_ABORTED"


class Waiting(BaseLlm):
    """A model that works until it is cancelled."""

    model: str = "waiting"
    begun: Any = None
    cancelled: bool = False

    async def generate_content_async(self, llm_request, stream=False):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        yield LlmResponse(content=types.ModelContent("late"))


def calling(name: str) -> ScriptedLlm:
    return ScriptedLlm(rules=[Rule(after=name, then=Say("{result}")), Rule(then=Call(name))])


async def new_runner(root) -> InMemoryRunner:
    runner = InMemoryRunner(root, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    return runner


def run(runner, **how) -> AsyncGenerator[Event, None]:
    return runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"), **how)


async def aborted(root, begun: asyncio.Event) -> list[Event]:
    """Return the events of a run that is aborted once `begun` is set."""
    signal = asyncio.Event()

    async def abort() -> None:
        await begun.wait()
        signal.set()

    aborting = asyncio.create_task(abort())
    async with asyncio.timeout(PATIENCE):
        events = [event async for event in run(await new_runner(root), abort_signal=signal)]
        await aborting
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    return events


def endless():
    """Return an endless function, the event set at its start, and the list filled at its end."""
    begun, ended = asyncio.Event(), []

    async def work():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    return work, begun, ended


async def test_a_running_model_call_is_cancelled():
    model = Waiting(begun=asyncio.Event())
    [event] = await aborted(LlmAgent(name="agent", model=model), model.begun)
    assert model.cancelled
    assert (event.author, event.content, event.error_code) == ("agent", None, ABORTED)


async def test_a_running_tool_is_cancelled_and_its_call_answered():
    work, begun, ended = endless()
    agent = LlmAgent(name="agent", model=calling("work"), tools=[work])
    _, event = await aborted(agent, begun)
    [response] = event.get_function_responses()
    assert ended
    assert (response.name, event.error_code) == ("work", ABORTED)
    assert "error" in response.response


async def test_a_running_node_is_cancelled():
    work, begun, ended = endless()
    [event] = await aborted(Workflow(name="wf", edges=[(START, work)]), begun)
    assert ended
    assert (event.author, event.error_code) == ("wf", ABORTED)


async def test_a_plain_function_is_abandoned_in_its_thread():
    begun, may_end, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()

    def work():
        loop.call_soon_threadsafe(begun.set)
        may_end.wait(PATIENCE)
        return "too late"

    try:
        agent = LlmAgent(name="agent", model=calling("work"), tools=[work])
        _, event = await aborted(agent, begun)
    finally:
        may_end.set()
    assert "error" in event.get_function_responses()[0].response


async def test_a_node_that_ignores_its_cancellation_does_not_delay_the_abort():
    begun = asyncio.Event()

    async def stubborn():
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            yield "still here"
            yield "and here"

    [event] = await aborted(Workflow(name="wf", edges=[(START, stubborn)]), begun)
    assert event.error_code == ABORTED


async def test_a_tool_that_returns_despite_its_cancellation_keeps_its_result():
    begun = asyncio.Event()

    async def stubborn():
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "done"

    agent = LlmAgent(name="agent", model=calling("stubborn"), tools=[stubborn])
    _, result, last = await aborted(agent, begun)
    assert result.get_function_responses()[0].response == {"result": "done"}
    assert last.error_code == ABORTED


async def test_code_that_delays_pending_output_is_cancelled():
    begun = asyncio.Event()

    class Slow(BaseAgent):
        async def _run_async_impl(self, ctx):
            async for event in self.sub_agents[0].run_async(ctx):
                begun.set()
                await asyncio.Event().wait()
                yield event

    says = [ScriptedLlm(rules=[Rule(then=Say(text))]) for text in ("One.", "Two.")]
    agents = [LlmAgent(name=name, model=model) for name, model in zip("ab", says, strict=True)]
    both = ParallelAgent(name="both", sub_agents=agents)
    slow = Slow(name="slow", description="Helps.", sub_agents=[both])
    model = ScriptedLlm(rules=[Rule(then=Call("transfer_to_agent", agent_name="slow"))])
    events = await aborted(LlmAgent(name="agent", model=model, sub_agents=[slow]), begun)
    assert [event.error_code for event in events] == [None, None, ABORTED]


async def test_each_step_may_be_awaited_in_its_own_task():
    model, signal = Waiting(begun=asyncio.Event()), asyncio.Event()
    events = run(await new_runner(LlmAgent(name="agent", model=model)), abort_signal=signal)
    step = asyncio.create_task(anext(events))
    await model.begun.wait()
    signal.set()
    async with asyncio.timeout(PATIENCE):
        assert (await step).error_code == ABORTED
        with pytest.raises(StopAsyncIteration):
            await asyncio.create_task(anext(events))


@pytest.mark.parametrize("from_thread", [True, False])
async def test_code_in_the_run_can_abort_it_and_sets_the_callers_signal(from_thread):
    signal, events = asyncio.Event(), []

    async def stop(tool_context):
        abort = tool_context.get_invocation_context().abort
        await asyncio.to_thread(abort) if from_thread else abort()
        await asyncio.Event().wait()

    agent = LlmAgent(name="agent", model=calling("stop"), tools=[stop])
    async with asyncio.timeout(PATIENCE):
        async for event in run(await new_runner(agent), abort_signal=signal):
            events.append((event.error_code, signal.is_set()))
    assert events == [(None, False), (ABORTED, True)]


async def test_a_caller_that_is_cancelled_as_well_stays_cancelled():
    model, signal = Waiting(begun=asyncio.Event()), asyncio.Event()
    runner = await new_runner(LlmAgent(name="agent", model=model))

    async def consume() -> None:
        async for _ in run(runner, abort_signal=signal):
            pass

    task = asyncio.create_task(consume())
    await model.begun.wait()
    signal.set()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_caller_is_not_cancelled_while_it_handles_an_event():
    signal = asyncio.Event()

    def look() -> str:
        return "rain"

    runner = await new_runner(LlmAgent(name="agent", model=calling("look"), tools=[look]))
    codes = []
    async for event in run(runner, abort_signal=signal):
        codes.append(event.error_code)
        signal.set()
        for _ in range(20):
            await asyncio.sleep(0)
    assert codes == [None, ABORTED]


async def test_an_abort_is_in_the_history_even_if_the_caller_leaves():
    signal = asyncio.Event()

    def look() -> str:
        return "rain"

    runner = await new_runner(LlmAgent(name="agent", model=calling("look"), tools=[look]))
    async with aclosing(run(runner, abort_signal=signal)) as events:
        await anext(events)
        signal.set()
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    assert session is not None
    assert session.events[-1].error_code == ABORTED
    assert session.events[-1].get_function_responses()[0].name == "look"


async def test_agents_of_a_workflow_agent_continue_to_their_next_event():
    signal = asyncio.Event()

    class Stopped(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            signal.set()
            await asyncio.sleep(0.05)
            yield LlmResponse(content=types.ModelContent("One."))

    first = LlmAgent(name="first", model=Stopped(model="stopped"))
    second = LlmAgent(name="second", model=ScriptedLlm(rules=[Rule(then=Say("Two."))]))
    runner = await new_runner(SequentialAgent(name="team", sub_agents=[first, second]))
    events = [event async for event in run(runner, abort_signal=signal)]
    assert [(e.author, e.error_code) for e in events] == [("first", None), ("team", ABORTED)]
