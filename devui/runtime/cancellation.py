"""Tells a run that was cancelled from code that awaited what was: devui's own."""

import asyncio


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
    if task is not None and task.cancelling():
        return None
    return RuntimeError(
        f"{who} awaited something that was cancelled; the run itself was not. Catch"
        " asyncio.CancelledError where it awaits it."
    )
