"""An app whose tools are working when its run is cut off, and a ledger of what they did."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import write_app

_APP = """
import asyncio
from pathlib import Path

from devui.runtime.agents import Agent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import LongRunningFunctionTool, ToolContext, idempotent

HERE = Path(__file__).parent


async def work(what: str) -> str:
    with (HERE / "ledger").open("a") as ledger:
        ledger.write(what + "\\n")
    if (HERE / "started").exists():
        await asyncio.to_thread((HERE / "started").write_text, what)
        await asyncio.Event().wait()
    return what + " done"


async def pay(amount: int, tool_context: ToolContext) -> str:
    tool_context.state["paid"] = amount
    tool_context.state["temp:till"] = "open"
    return await work(f"pay {amount}")


async def order(item: str) -> None:
    # Answered later, when it has been delivered.
    if item != "now":
        await work(f"order {item}")


@idempotent
async def look(place: str) -> str:
    return await work(f"look {place}")


rules = [
    Rule(after="look", then=Say("seen: {result}")),
    Rule(after="pay", then=Say("answered: {result}")),
    Rule(after="order", then=Say("delivered: {result}")),
    Rule(user="order", then=Call("order", item="tea")),
    Rule(user="both", then=[Call("order", item="now"), Call("pay", amount=7)]),
    Rule(user="look", then=Call("look", place="here")),
    Rule(then=Call("pay", amount=7)),
]
tools = [pay, look, LongRunningFunctionTool(order)]
root = Agent(name="clerk", model=ScriptedLlm(rules=rules), tools=tools)
app = App(
    name="clerk",
    root_agent=root,
    resumability_config=ResumabilityConfig(is_resumable=True),
)
"""

_LATE = """
import time
from pathlib import Path

while not Path(__file__).with_name("may-load").exists():
    time.sleep(0.05)
"""


class Clerk:
    """The app in a folder of agents; its tool acts, and then still runs."""

    def __init__(self, agents: Path) -> None:
        self.folder = write_app(agents, "clerk", _APP).parent
        self._started, self._ledger = self.folder / "started", self.folder / "ledger"
        self.begin_anew()

    def begin_anew(self) -> None:
        """Start with an empty ledger, and with tools that don't return."""
        self._ledger.unlink(missing_ok=True)
        self._started.unlink(missing_ok=True)
        os.mkfifo(self._started)

    def wait_for_tool(self) -> str:
        """Wait until the tool is working, and return what it is doing."""
        return self._started.read_text()

    def will_finish(self) -> None:
        """Let tools return from now on."""
        self._started.unlink()

    @contextmanager
    def broken(self) -> Iterator[None]:
        """Break the app's code inside the block."""
        code = self.folder / "agent.py"
        whole = code.read_text(encoding="utf-8")
        code.write_text("import nothing_at_all", encoding="utf-8")
        yield
        code.write_text(whole, encoding="utf-8")

    def loads_late(self) -> None:
        """Keep the app from loading until `may_load` is called."""
        code = self.folder / "agent.py"
        code.write_text(_LATE + code.read_text(encoding="utf-8"), encoding="utf-8")

    def may_load(self) -> None:
        """Let the app load from now on."""
        (self.folder / "may-load").touch()

    @property
    def ledger(self) -> list[str]:
        """What was done, including repetitions."""
        return self._ledger.read_text().splitlines()


def begun(client: object, clerk: Clerk, message: str = "pay") -> DebuggedRun:
    """Start a run, and return it once its tool is working."""
    debugged = DebuggedRun(client, "clerk").start(message, pause=False)
    clerk.wait_for_tool()
    return debugged
