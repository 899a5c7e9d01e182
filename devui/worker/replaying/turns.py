"""The order of what agents do side by side: in a replay it is the recorded one.

Answers come at once there, so without turns another agent would be the first each time. Whoever is
early waits until the events before its own are committed.
"""

import asyncio
from collections.abc import Callable

STALL = 10.0
"""Seconds without any progress after which nobody waits for the others any more: something
that the recording has will not come."""


class Turns:
    """Counts the committed events."""

    def __init__(self, busy: Callable[[], bool]) -> None:
        """`busy` tells whether something goes on that may take its time, such as a person."""
        self.passed = 0
        self._busy = busy
        self._moves = 0
        self._moved = asyncio.Event()
        self._open = False

    async def wait_for(self, place: int) -> None:
        """Wait until `place` events are committed."""
        while not self._open and self.passed < place:
            moves = self._moves
            try:
                # `asyncio.wait_for` forgets that it was cancelled if what it waits for comes then.
                async with asyncio.timeout(STALL):
                    await self._moved.wait()
            except TimeoutError:
                if moves == self._moves and not self._busy():
                    self.open()

    def passed_one(self) -> None:
        """One more event is committed."""
        self.passed += 1
        self.moved()

    def moved(self) -> None:
        """The run came on."""
        self._moves += 1
        self._moved.set()
        self._moved = asyncio.Event()

    def open(self) -> None:
        """Nobody waits any more."""
        self._open = True
        self.moved()
