"""The garbage collector, and what makes very many objects at once (devui's own)."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 20_000
"""So many new objects take longer to look at than garbage among them may be kept waiting for."""


class _Pauses:
    """The pauses under way, in all threads: the collector is the process's."""

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
    """Put all objects among the old ones, without the look at each that they would get first."""
    if gc.get_freeze_count() == 0:  # or what somebody froze would thaw
        gc.freeze()
        gc.unfreeze()


_pauses = _Pauses()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Make many objects that stay, such as the events of a session, without looking for garbage.

    Python looks for it each time the number of objects has grown by a part, and finds none, which
    takes as long as making them (devui's own). Nothing that takes long otherwise belongs in here.
    """
    _pauses.begin()
    try:
        yield
    finally:
        _pauses.end()
