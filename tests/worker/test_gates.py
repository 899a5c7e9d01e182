"""A gate that isn't armed sends nothing: a run that nobody debugs costs no extra message."""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.worker.engines.native import KIT
from devui.worker.instruments.instruments import Instruments
from devui.worker.link import Link
from devui.worker.output import current_run
from tests.kit.stages import said


def look() -> str:
    """Look."""
    return "seen"


def agent() -> Agent:
    script = [Rule(after="look", then=Say("{result}", chunks=3)), Rule(then=Call("look"))]
    return Agent(name="agent", model=ScriptedLlm(rules=script), tools=[look])


@pytest.fixture
async def wire() -> AsyncGenerator[tuple[Link, int], None]:
    down_read, down_write = os.pipe()
    up_read, up_write = os.pipe()
    os.set_blocking(up_read, False)
    with os.fdopen(down_read, "rb") as down:
        yield Link(down, up_write, asyncio.get_running_loop()), up_read
    for descriptor in (down_write, up_read, up_write):
        os.close(descriptor)


def sent(descriptor: int) -> list[dict[str, Any]]:
    """Return the messages in the pipe."""
    try:
        data = os.read(descriptor, 1_000_000)
    except BlockingIOError:
        return []
    messages = []
    while data:
        size = int.from_bytes(data[:4], "big")
        messages.append(json.loads(data[4 : 4 + size]))
        data = data[4 + size :]
    return messages


async def first_gate(up: int) -> dict[str, Any]:
    """Wait for the next gate message and return it."""
    arrived = asyncio.Event()
    asyncio.get_running_loop().add_reader(up, arrived.set)
    while not (gates := [each for each in sent(up) if each["kind"] == "gate"]):
        arrived.clear()
        await arrived.wait()
    asyncio.get_running_loop().remove_reader(up)
    return gates[0]


async def go(instruments: Instruments) -> list[Any]:
    runner = InMemoryRunner(agent(), app_name="app")
    runner.auto_create_session = True
    instruments.join(runner)
    run = runner.run_async(user_id="u", session_id="s", new_message=said("go"))
    return [event async for event in run]


async def test_a_run_without_armed_gates_asks_nothing(wire: tuple[Link, int]) -> None:
    link, up = wire
    instruments = Instruments(link, KIT)
    current_run.set("r")
    instruments.arm("another", ["before_model", "before_tool", "enter_agent"])
    instruments.arm("r", [])
    assert len(await go(instruments)) == 3
    assert {each["kind"] for each in sent(up)} == {"span_began", "span_ended"}


async def test_an_armed_gate_asks_and_a_cancelled_one_reports_that_it_was_left(
    wire: tuple[Link, int],
) -> None:
    link, up = wire
    instruments = Instruments(link, KIT)
    current_run.set("r")
    instruments.arm("r", ["before_tool"])
    task = asyncio.create_task(go(instruments))
    gate = await first_gate(up)
    task.cancel()
    await asyncio.wait([task])
    [left] = [each for each in sent(up) if each["kind"] != "span_ended"]
    assert (gate["kind"], gate["gate"], gate["tool"]) == ("gate", "before_tool", "look")
    assert json.loads(gate["held"]) == {"name": "look", "args": {}}
    assert left == {"kind": "gate_left", "run": "r", "gate": gate["id"]}


async def test_a_gate_armed_during_the_run_asks(wire: tuple[Link, int]) -> None:
    link, up = wire
    instruments = Instruments(link, KIT)
    current_run.set("r")
    runner = InMemoryRunner(agent(), app_name="app")
    runner.auto_create_session = True
    instruments.join(runner)
    events = runner.run_async(user_id="u", session_id="s", new_message=said("go"))
    await anext(events)
    assert [each for each in sent(up) if each["kind"] == "gate"] == []
    instruments.arm("r", ["after_tool"])
    task = asyncio.ensure_future(anext(events))
    gate = await first_gate(up)
    assert (gate["gate"], gate["tool"]) == ("after_tool", "look")
    task.cancel()
    await asyncio.wait([task])
    await events.aclose()
