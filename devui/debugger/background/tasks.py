"""Background tasks with one owner, whose failures don't affect each other."""

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

logger = logging.getLogger("devui.tasks")


class Tasks:
    """A task group in which an unexpected error is logged and only ends the task that raised it."""

    def __init__(self) -> None:
        self._group = asyncio.TaskGroup()

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
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
        """Wait for all tasks; cancel them if the block raised an error."""
        try:
            await self._group.__aexit__(kind, error, trace)
        except ExceptionGroup:
            if error is None:
                raise
            # Tasks don't raise, so the group contains only `error`, which propagates unwrapped.


async def _run_logged(work: Coroutine[Any, Any, None], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("%s ended unexpectedly", name)
