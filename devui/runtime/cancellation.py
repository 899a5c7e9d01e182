"""Distinguishes cancelled runs from code that awaited something cancelled (devui's own)."""

import asyncio
import logging
from collections.abc import Collection
from typing import Any, NoReturn

logger = logging.getLogger(__name__)


def check_cancelled(cancelled: asyncio.CancelledError, who: str) -> None:
    """Raise the RuntimeError of `not_cancelled` unless the running task is cancelled."""
    error = not_cancelled(who)
    if error is not None:
        raise error from cancelled


def not_cancelled(who: str) -> RuntimeError | None:
    """Return the error to raise for a CancelledError, or None if the running task is cancelled.

    If it isn't, code awaited a task or future that was cancelled and didn't catch that. The
    CancelledError would end everything above silently, or look as if the caller had been cancelled.

    Args:
        who: Whose code it passed through, as the start of a sentence, such as `Tool 'look'`.
    """
    task = asyncio.current_task()
    return None if task is not None and task.cancelling() else cancelled_elsewhere(who)


def cancelled_elsewhere(who: str) -> RuntimeError:
    """Return the error for a CancelledError whose cause was not the run; see `not_cancelled`."""
    return RuntimeError(
        f"{who} awaited something that was cancelled, although the run was not. Catch"
        " asyncio.CancelledError around that `await`."
    )


async def cancel_here() -> NoReturn:
    """Cancel the running task here, since nothing else may cancel it later.

    Raises:
        CancelledError: Always.
    """
    task = asyncio.current_task()
    if task is not None:
        task.cancel()
    await asyncio.sleep(0)
    raise asyncio.CancelledError


async def stop(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel the tasks and wait until they have ended; cancelling this cancels them again.

    What a task raises while it ends, such as in its cleanup, is logged: its caller is on the way
    out, perhaps with an error that matters more.
    """
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            logger.error("A tool raised an exception while being stopped.", exc_info=outcome)
