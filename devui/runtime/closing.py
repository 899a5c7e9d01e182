"""Closes several things in a row, even if closing one of them fails (adk-runtime 3.6)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable


async def take_all(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Run each step, then raise the error of the first one that failed.

    A cancellation doesn't stop the other steps either, and is raised before any other error.
    """
    errors: list[BaseException] = []
    for step in steps:
        try:
            await step()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  raised at the end
            errors.append(error)
    errors.sort(key=lambda error: not isinstance(error, asyncio.CancelledError))
    if errors:
        raise errors[0]


async def finish(work: Awaitable[None]) -> None:
    """Wait until the work is done, even if cancelled meanwhile; then raise the cancellation."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
