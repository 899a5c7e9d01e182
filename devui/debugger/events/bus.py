"""Publish and subscribe inside the server, by topic.

Publishing never waits (R60): each subscriber has a bounded buffer, and one that does not keep up
is cut off and has to begin again from the store, where everything committed can be read.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Hashable
from contextlib import suppress
from types import TracebackType
from typing import Generic, Self, TypeVar

from devui.debugger.background.weights import bytes_of

T = TypeVar("T")

CAPACITY = 1000
"""How many items a subscriber may be behind."""
BYTES = 8 * 1024 * 1024
"""How much memory these items may take; one item always fits alone, however large it is."""


class Subscription(Generic[T]):
    """One reader's place in a topic; a context manager that leaves the topic at its end."""

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
        """All items that have come since the last call, at least one; empty: the end.

        The end comes when the bus closes or when this reader was too slow.
        """
        await self._wake.wait()
        items = list(self._items)
        self._forget()
        if not self.closed:
            self._wake.clear()
        return items

    async def batch_within(self, seconds: float) -> list[T]:
        """As `batch`; nothing if nothing comes in so many seconds, and that is no end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                return await self.batch()
        return []

    def put(self, item: T, size: int) -> None:
        """Called by the bus, with the bytes that the item takes."""
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
        """Let the reader find the end after what it has."""
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
    """Topics and who reads them."""

    def __init__(self) -> None:
        self._readers: defaultdict[Hashable, set[Subscription[T]]] = defaultdict(set)
        self.closed = False

    def publish(self, topic: Hashable, item: T) -> None:
        """Give `item` to every reader of `topic`."""
        readers = tuple(self._readers.get(topic, ()))
        size = bytes_of(item) if readers else 0
        for reader in readers:
            reader.put(item, size)

    def subscribe(self, *topics: Hashable, kinds: tuple[type, ...] = (object,)) -> Subscription[T]:
        """A reader of the topics that sees what is published from now on, in order: everything, or
        items of some classes."""
        reader: Subscription[T] = Subscription(self, topics, kinds)
        for topic in topics:
            self._readers[topic].add(reader)
        if self.closed:
            reader.close()
        return reader

    def leave(self, topics: tuple[Hashable, ...], reader: Subscription[T]) -> None:
        """Forget a reader."""
        for topic in topics:
            readers = self._readers.get(topic, set())
            readers.discard(reader)
            if not readers:
                self._readers.pop(topic, None)

    def readers(self, topic: Hashable) -> int:
        """How many read `topic` now."""
        return len(self._readers.get(topic, ()))

    def close(self) -> None:
        """End every subscription, present and future."""
        self.closed = True
        self.restart()

    def restart(self) -> None:
        """End every present subscription: each reader begins again from the store."""
        for readers in tuple(self._readers.values()):
            for reader in tuple(readers):
                reader.close()
