"""Whether the disk is quick enough for changes on the event loop's thread (docs/decisions/0029)."""

from typing import Final

SMALL: Final = 100_000
"""Bytes that a quick disk writes within a moment."""
_MOMENT: Final = 0.002
"""Seconds for which a change may hold up the loop."""
_QUICK_IN_A_ROW: Final = 8
"""How many changes have to be over within a moment before one is made on the loop's thread."""
_ON_THE_LOOP: Final = 100
"""How many are, before a thread makes one, which also does what SQLite put off meanwhile."""


class Pace:
    """How quick the last changes were."""

    def __init__(self) -> None:
        self._quick = 0
        """How many were, one after the other."""

    def allows_the_loop(self) -> bool:
        return _QUICK_IN_A_ROW <= self._quick < _QUICK_IN_A_ROW + _ON_THE_LOOP

    def took(self, seconds: float, *, on_the_loop: bool) -> None:
        if seconds > _MOMENT:
            self._quick = 0
        elif on_the_loop:
            self._quick += 1
        else:
            self._quick = min(self._quick + 1, _QUICK_IN_A_ROW)
