"""Pauses the garbage collector while very many objects are created (devui's own)."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 20_000
"""With more new objects than this, scanning them isn't worth the garbage it would find."""


class _Pauses:
    """The pauses in progress in all threads, since a process has only one collector."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._collects = True

    def begin(self) -> None:
        with self._lock:
            if self._count == 0:
                self._collects = gc.isenabled()
                gc.disable()
            self._count += 1

    def end(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0 and self._collects:
                if gc.get_count()[0] > _MANY:
                    _take_for_old()
                gc.enable()


def _take_for_old() -> None:
    """Move all objects to the oldest generation, without the scan that usually precedes this."""
    if gc.get_freeze_count() == 0:  # else unfreezing would affect objects frozen by others
        gc.freeze()
        gc.unfreeze()


_pauses = _Pauses()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Create many objects that stay, such as the events of a session, without garbage collection.

    Python collects whenever the number of objects has grown by a certain share, and finds nothing,
    which takes as long as creating them (devui's own). Don't do other lengthy work in this block.
    """
    _pauses.begin()
    try:
        yield
    finally:
        _pauses.end()
