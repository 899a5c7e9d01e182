"""The processor on which a thread goes on (Linux; elsewhere the system decides).

A system wakes a thread on an idle processor, which in a virtual machine takes longer than most
plain functions do, and has none of what they use in its caches. Where the waker is about to wait
for the thread, its own processor is the better one (devui's own).
"""

import ctypes
import functools
import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress


def allowed() -> Collection[int]:
    """The processors that the calling thread may use; none where that cannot be said."""
    return os.sched_getaffinity(0) if sys.platform == "linux" else ()


def bring_here(thread: int) -> None:
    """Let a thread that waits go on on the calling thread's processor, until it calls `allow`.

    `thread` is its native id.
    """
    if (current := _current()) is None:
        return
    try:
        os.sched_setaffinity(thread, (current(),))
    except OSError:  # it is only slower
        return


def allow(processors: Collection[int]) -> None:
    """Let the calling thread use these processors; nothing if there are none."""
    if not processors:
        return
    try:
        os.sched_setaffinity(0, processors)
    except OSError:  # they were taken from the whole process
        return


@functools.cache
def _current() -> Callable[[], int] | None:
    """What tells the calling thread's processor."""
    if sys.platform == "linux":
        with suppress(AttributeError):  # a C library that does not tell
            return ctypes.CDLL(None).sched_getcpu
    return None
