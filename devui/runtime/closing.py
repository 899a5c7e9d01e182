"""Closing several things in a row, whatever goes wrong with one of them (adk-runtime 3.6)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable


async def take_all(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Take each step, then raise what the first one that failed has raised.

    A cancellation holds up no step either, and is raised before anything else.
    """
    errors: list[BaseException] = []
    for step in steps:
        try:
            await step()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  raised in the end
            errors.append(error)
    errors.sort(key=lambda error: not isinstance(error, asyncio.CancelledError))
    if errors:
        raise errors[0]


async def finish(work: Awaitable[None]) -> None:
    """Wait until the work is done, also when cancelled meanwhile; that comes afterwards."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
