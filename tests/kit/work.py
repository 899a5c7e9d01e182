"""The work of a call, counted and not timed, so that other load on the machine doesn't matter."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class _Exceeded(BaseException):
    """The limit was reached. Nothing that is counted catches it."""


class Work:
    """Calls of functions, in Python and in C, on the counting thread."""

    def __init__(self, limit: int) -> None:
        self.calls = 0
        self._limit = limit

    def of(self, call: Callable[[], Any]) -> Any:
        """Return what `call` returns; fail as soon as it has made more calls than the limit."""
        before = sys.getprofile()
        sys.setprofile(self._count)
        try:
            return call()
        except _Exceeded:
            raise AssertionError(f"more than {self._limit:,} calls") from None
        finally:
            sys.setprofile(before)

    def _count(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in {"call", "c_call"}:
            self.calls += 1
            if self.calls > self._limit:
                raise _Exceeded
