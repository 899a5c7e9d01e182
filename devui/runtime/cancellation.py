"""Tells a run that was cancelled from code that awaited what was, and cancels: devui's own."""

import asyncio
import logging
from collections.abc import Collection
from typing import Any, NoReturn

logger = logging.getLogger(__name__)


def check_cancelled(cancelled: asyncio.CancelledError, who: str) -> None:
    """Refuse a CancelledError where nobody has cancelled the task that this runs in.

    Raises:
        RuntimeError: see `not_cancelled`.
    """
    error = not_cancelled(who)
    if error is not None:
        raise error from cancelled


def not_cancelled(who: str) -> RuntimeError | None:
    """What to raise for a CancelledError that was caught; None if the running task is cancelled.

    Where it is not, code awaited a task or a future that was cancelled, and did not catch that. It
    would end everything above without a word, or look as if the caller had been cancelled.

    Args:
        who: Whose code it passed through, at the beginning of a sentence, such as `Tool 'look'`.
    """
    task = asyncio.current_task()
    return None if task is not None and task.cancelling() else cancelled_elsewhere(who)


def cancelled_elsewhere(who: str) -> RuntimeError:
    """What to say of a CancelledError that came of something else than a run; see above."""
    return RuntimeError(
        f"{who} awaited something that was cancelled; the run itself was not. Catch"
        " asyncio.CancelledError where it awaits it."
    )


async def cancel_here() -> NoReturn:
    """Cancel the running task at this place: nobody else might do it any more.

    Raises:
        CancelledError: and nothing else.
    """
    task = asyncio.current_task()
    if task is not None:
        task.cancel()
    await asyncio.sleep(0)
    raise asyncio.CancelledError


async def stop(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel the tasks, and wait until they have ended; who cancels this, cancels them once more.

    What one raises of its own, such as in its cleaning up, is logged: who stops it is on the way
    out, perhaps with an error that matters more.
    """
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception):
            logger.error("A tool raised while it was stopped.", exc_info=outcome)
