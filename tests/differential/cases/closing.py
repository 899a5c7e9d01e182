"""What a Runner closes, in which order, and that no failure keeps the rest from being closed."""

import asyncio
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.script import Boom


class Closer:
    """Makes toolsets, plugins and services that note when they are closed."""

    def __init__(self, stage: Any, wrong: str, how: str) -> None:
        self.stage = stage
        self.wrong = wrong
        """What fails to close."""
        self.how = how
        """How it fails: it raises an error or CancelledError, or the caller is cancelled."""
        self.reached = asyncio.Event()

    async def close(self, what: str) -> None:
        """Note the beginning of closing, and its end unless it fails."""
        self.stage.note("closes", what)
        if what == self.wrong:
            self.reached.set()
            await asyncio.sleep(0)  # lets an outside cancellation arrive
            if self.how != "cancelled":
                raise Boom("boom") if self.how == "raises" else asyncio.CancelledError
        self.stage.note("closed", what)

    def toolset(self) -> Any:
        """Return a toolset that notes when it is closed."""

        class Tools(self.stage.ns.BaseToolset):
            closer: Any = self

            async def get_tools(self, readonly_context=None):
                return []

            async def close(self):
                await self.closer.close("toolset")

        return Tools()

    def plugin(self, name: str) -> Any:
        """Return a plugin that notes when it is closed."""

        class Plugin(self.stage.ns.BasePlugin):
            closer: Any = self

            async def close(self):
                await self.closer.close(name)

        return Plugin(name=name)

    def sessions(self) -> Any:
        """Return a session service that notes when it is flushed."""

        class Sessions(self.stage.ns.InMemorySessionService):
            closer: Any = self

            async def flush(self):
                await self.closer.close("sessions")

        return Sessions()


async def _close(stage: Any, wrong: str, how: str) -> None:
    closer = Closer(stage, wrong, how)
    toolset = closer.toolset()
    below = stage.agent("below", tools=[toolset])
    root = stage.agent("root", tools=[toolset], sub_agents=[below])
    services = {"session_service": closer.sessions()}
    await stage.open(root, plugins=[closer.plugin("one"), closer.plugin("two")], services=services)
    for time in ("first", "second"):
        closer.reached.clear()
        closing = asyncio.create_task(stage.runner.close())
        if how == "cancelled":
            await closer.reached.wait()
            closing.cancel()
        await asyncio.wait([closing])
        error = None if closing.cancelled() else closing.exception()
        stage.note(time, closing.cancelled(), type(error).__name__)


add(Case("a runner is closed, twice", partial(_close, wrong="nothing", how="")))
for _wrong in ("toolset", "one", "sessions"):
    for _how in ("raises", "cancels", "cancelled"):
        _name = f"a runner is closed: {_wrong} {_how}"
        add(Case(_name, partial(_close, wrong=_wrong, how=_how)))
