"""Tells a run that was cancelled from code that awaited what was: devui's own."""

import asyncio


def check_cancelled(cancelled: asyncio.CancelledError, who: str) -> None:
    """Refuse a CancelledError where nobody has cancelled the task that this runs in.

    It would end everything above without a word, or look as if the caller had been cancelled.

    Args:
        cancelled: What was raised.
        who: Whose code it passed through, at the beginning of a sentence, such as `Tool 'look'`.

    Raises:
        RuntimeError: the code awaited a task or future that was cancelled, and did not catch that.
    """
    task = asyncio.current_task()
    if task is None or not task.cancelling():
        raise RuntimeError(
            f"{who} awaited something that was cancelled; the run itself was not. Catch"
            " asyncio.CancelledError where it awaits it."
        ) from cancelled
