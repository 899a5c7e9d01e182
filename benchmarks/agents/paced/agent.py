"""An agent that commits fifty events a second for ten seconds; each says when it was made."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from typing import Any

from benchmarks.workload import Runtime

SECONDS = 10
PER_SECOND = 50

runtime = Runtime(os.environ.get("BENCH_IMPL", "devui.runtime"))
BaseAgent: Any = runtime.module("agents").BaseAgent
Event: Any = runtime.module("events").Event


class Paced(BaseAgent):
    """Says the current time."""

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
        begun = time.monotonic()
        for number in range(SECONDS * PER_SECOND):
            await asyncio.sleep(max(0.0, begun + number / PER_SECOND - time.monotonic()))
            end = ".last" if number == SECONDS * PER_SECOND - 1 else "."
            content = runtime.content(text=f"t={time.time():.4f}{end}")
            yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = Paced(name="paced")
