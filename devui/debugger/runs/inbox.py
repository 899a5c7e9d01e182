"""The inbox of a run's task: its worker's messages in order, bounded by number and by bytes.

A full inbox makes the sender wait, and the worker with it. So an agent that sends more than the
journal can take is slowed down, and the server's memory doesn't grow.
"""

import asyncio
from collections import deque
from typing import Final, Generic, TypeVar

from devui.debugger.background.memory_size import bytes_of

T = TypeVar("T")

MESSAGES: Final = 1000
BYTES: Final = 8 * 1024 * 1024


class Inbox(Generic[T]):
    """A queue for one reader."""

    def __init__(self) -> None:
        self._items: deque[tuple[T, int]] = deque()
        self._bytes = 0
        self._arrival = asyncio.Event()
        self._exit = asyncio.Event()

    def put_nowait(self, item: T) -> None:
        """Add a message. Raises asyncio.QueueFull if there is no room."""
        size = bytes_of(item)
        if not self._has_room(size):
            raise asyncio.QueueFull
        self._add(item, size)

    async def put(self, item: T) -> None:
        """Add a message as soon as there is room."""
        size = bytes_of(item)
        while not self._has_room(size):
            self._exit.clear()
            await self._exit.wait()
        self._add(item, size)

    async def get(self) -> T:
        """Wait for the next message and return it. Cancelling the wait loses no message."""
        while not self._items:
            self._arrival.clear()
            await self._arrival.wait()
        item, size = self._items.popleft()
        self._bytes -= size
        self._exit.set()
        return item

    def _has_room(self, size: int) -> bool:
        """Whether there is room; an empty inbox takes any message, however large."""
        if not self._items:
            return True
        return len(self._items) < MESSAGES and self._bytes + size <= BYTES

    def _add(self, item: T, size: int) -> None:
        self._items.append((item, size))
        self._bytes += size
        self._arrival.set()
