"""A server with agents to debug from the terminal, and a held run of one of them."""

import pytest

from tests.api.test_stepping import COUNT, WEATHER
from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

SLOW = """import asyncio

from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, ScriptedLlm


async def wait() -> str:
    print("began")
    await asyncio.Event().wait()


model = ScriptedLlm(rules=[Rule(then=Call("wait"))])
root_agent = Agent(name="waiter", model=model, tools=[wait])
"""


@pytest.fixture
def server(tmp_path):
    write_app(tmp_path / "agents", "count", COUNT)
    write_app(tmp_path / "agents", "slow", SLOW)
    write_app(tmp_path / "agents", "weather", WEATHER)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        yield server


@pytest.fixture
def held(client):
    debugged = DebuggedRun(client, "count").start("hello")
    assert debugged.settled()["status"] == "held"
    return debugged
