"""Publish and subscribe within the server, by topic.

Publishing never blocks (R60): each subscriber has a bounded buffer. One that can't keep up is cut
off and restarts from the store, which has everything committed.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Hashable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Self, TypeVar

from devui.debugger.background.memory_size import bytes_of

T = TypeVar("T")

CAPACITY = 1000
"""How many items a subscriber's buffer holds."""
BYTES = 8 * 1024 * 1024
"""How much memory a subscriber's buffer may take. A single item always fits, however large."""


class Subscription(Generic[T]):
    """One reader of some topics; as a context manager, it unsubscribes on exit."""

    def __init__(
        self, bus: "Bus[T]", topics: tuple[Hashable, ...], kinds: tuple[type, ...]
    ) -> None:
        self._bus = bus
        self._topics = topics
        self._kinds = kinds
        self._items: deque[T] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self.closed = False

    async def batch(self) -> list[T]:
        """Wait for items, and return all that arrived since the last call.

        An empty list is the end: the bus has closed or restarted, or this reader was too slow.
        """
        await self._wake.wait()
        items = list(self._items)
        self._forget()
        if not self.closed:
            self._wake.clear()
        return items

    async def batch_within(self, seconds: float) -> list[T]:
        """Like `batch`, but return an empty list on timeout; that isn't the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.batch()
        return []

    def put(self, item: T, size: int) -> None:
        """Buffer an item of `size` bytes, or cut this reader off; only the bus calls this."""
        if self.closed or not isinstance(item, self._kinds):
            return
        if self._items and (len(self._items) >= CAPACITY or self._bytes + size > BYTES):
            self._forget()
            self.close()
            return
        self._items.append(item)
        self._bytes += size
        self._wake.set()

    def _forget(self) -> None:
        self._items.clear()
        self._bytes = 0

    def close(self) -> None:
        """End the subscription; the reader still gets what is buffered."""
        self.closed = True
        self._wake.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closed = True
        self._bus.leave(self._topics, self)


class Bus(Generic[T]):
    """The topics and their readers."""

    def __init__(self) -> None:
        self._readers: defaultdict[Hashable, set[Subscription[T]]] = defaultdict(set)
        self.closed = False

    def publish(self, topic: Hashable, item: T) -> None:
        readers = tuple(self._readers.get(topic, ()))
        size = bytes_of(item) if readers else 0
        for reader in readers:
            reader.put(item, size)

    def subscribe(self, *topics: Hashable, kinds: tuple[type, ...] = (object,)) -> Subscription[T]:
        """Return a reader of what is published on the topics from now on, in order: everything, or
        only items of some classes."""
        reader: Subscription[T] = Subscription(self, topics, kinds)
        for topic in topics:
            self._readers[topic].add(reader)
        if self.closed:
            reader.close()
        return reader

    def leave(self, topics: tuple[Hashable, ...], reader: Subscription[T]) -> None:
        """Unsubscribe a reader."""
        for topic in topics:
            readers = self._readers.get(topic, set())
            readers.discard(reader)
            if not readers:
                self._readers.pop(topic, None)

    def readers(self, topic: Hashable) -> int:
        """Return the number of current readers of `topic`."""
        return len(self._readers.get(topic, ()))

    def close(self) -> None:
        """End every subscription, current and future."""
        self.closed = True
        self.restart()

    def restart(self) -> None:
        """End every current subscription, so that each reader restarts from the store."""
        for readers in tuple(self._readers.values()):
            for reader in tuple(readers):
                reader.close()
