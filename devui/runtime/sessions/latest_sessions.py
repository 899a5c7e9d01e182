"""What is kept of the sessions that were worked for last (devui's own).

A session only grows at its end, so what was made of it for one turn is of use for the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from devui.runtime.sessions.session import Session

_KEPT = 64
_EVENTS = 100_000
"""How much is kept: so many things, and so many events unless one thing holds more."""


class Sized(Protocol):
    """What is kept: it tells how much it holds."""

    def __len__(self) -> int:
        """How many events, or contents made of them."""
        ...


T = TypeVar("T", bound=Sized)


class LatestSessions:
    """Things made of sessions, those that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._last: object = None
        self._sizes: dict[Hashable, int] = {}
        """What each held when it was asked for after another."""
        self._size = 0

    def of(self, session: Session, what: Hashable, kind: Callable[..., T], *arguments: object) -> T:
        """What was made of this session by that name, or a new one."""
        key = (session.app_name, session.user_id, session.id, kind, what)
        kept: T | None = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = kind(*arguments)
        if kept is not self._last:  # else it is asked for at each step of a turn
            self._last = kept
            self._kept.move_to_end(key)
            self._weigh(key, len(kept))
        return kept

    def _weigh(self, key: Hashable, size: int) -> None:
        self._size += size - self._sizes.get(key, 0)
        self._sizes[key] = size
        while len(self._kept) > _KEPT or (self._size > _EVENTS and len(self._kept) > 1):
            oldest, _ = self._kept.popitem(last=False)
            self._size -= self._sizes.pop(oldest)
