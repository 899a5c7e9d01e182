"""Running tools when their run is stopped, and what is logged (runtime seed)."""

import asyncio
import gc

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import BaseLlm, Call, LlmResponse, Rule, Say, ScriptedLlm
from tests.kit.patience import PATIENCE
from tests.kit.stages import WHERE, runner_of, said


class Told(BaseLlm):
    """A model that answers once its signal is set."""

    model: str = "told"
    signal: asyncio.Event

    async def generate_content_async(self, llm_request, stream=False):
        await self.signal.wait()
        yield LlmResponse(content=types.ModelContent("Here."))


def calling(*names: str) -> ScriptedLlm:
    calls = [Call(name) for name in names]
    return ScriptedLlm(rules=[Rule(after=names[0], then=Say("Done.")), Rule(then=calls)])


async def test_an_expert_that_answers_when_its_caller_is_cancelled_is_stopped(caplog):
    async def quick() -> str:
        return "quick"

    model = Told(signal=asyncio.Event())
    expert = LlmAgent(name="expert", description="Knows.", mode="single_turn", model=model)
    agent = LlmAgent(
        name="agent", model=calling("expert", "quick"), tools=[quick], sub_agents=[expert]
    )

    async def consume() -> None:
        async for _ in runner_of(agent).run_async(**WHERE, new_message=said("go")):
            pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.05)
    task.cancel()
    model.signal.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.wait([task])
    assert task.cancelled()
    del task
    gc.collect()
    assert not caplog.records


async def test_an_exception_of_a_stopped_tool_in_a_batch_is_logged(caplog):
    signal = asyncio.Event()

    async def quick() -> str:
        signal.set()
        return "quick"

    async def careless() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("no way to clean up") from None

    agent = LlmAgent(name="agent", model=calling("quick", "careless"), tools=[quick, careless])
    run = runner_of(agent).run_async(**WHERE, new_message=said("go"), abort_signal=signal)
    async with asyncio.timeout(PATIENCE):
        events = [event async for event in run]
    gc.collect()
    assert events[-1].error_code == "INVOCATION_ABORTED"
    [record] = caplog.records
    assert record.name.startswith("devui.")
    assert "while being stopped" in record.message
    assert "no way to clean up" in caplog.text


@pytest.mark.parametrize("calls", [["slow"], ["slow", "slow"], ["slow", "expert"]])
async def test_a_second_cancellation_stops_the_cleanup_of_tools(calls):
    cleaning = asyncio.Event()

    async def slow() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await asyncio.Event().wait()

    expert = LlmAgent(
        name="expert", description="Knows.", mode="single_turn", model=Told(signal=asyncio.Event())
    )
    agent = LlmAgent(name="agent", model=calling(*calls), tools=[slow], sub_agents=[expert])

    async def consume() -> None:
        async for _ in runner_of(agent).run_async(**WHERE, new_message=said("go")):
            pass

    before = asyncio.all_tasks()
    task = asyncio.create_task(consume())
    async with asyncio.timeout(PATIENCE):
        await asyncio.sleep(0.05)
        task.cancel()
        await cleaning.wait()
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled()
    assert asyncio.all_tasks() == before
