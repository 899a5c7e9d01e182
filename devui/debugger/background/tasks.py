"""Tasks with one owner, none of which can take the others down."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

logger = logging.getLogger("devui.tasks")


class Tasks:
    """A task group with an edge: what a task did not expect is logged, and ends that task alone."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Begin a task."""
        return self._group.create_task(_run_logged(work, name), name=name)

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for all of them; cancel them if something went wrong among those who use them."""
        try:
            await self._group.__aexit__(kind, error, trace)
        except ExceptionGroup:
            if error is None:
                raise
            # No task has a part in it: what went wrong goes on as it is, and is told in its words.


async def _run_logged(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("%s ended unexpectedly", name)
