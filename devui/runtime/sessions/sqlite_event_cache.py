"""The events of the sessions that were last read from a file, parsed once (adk-runtime 2.4).

A session only grows at its end, so a turn needn't read its whole history again (adk-runtime 2.5).
"""

import math
import sqlite3
import threading
from collections import OrderedDict
from typing import NamedTuple

from devui.runtime.events.event import Event
from devui.runtime.events.reading import read_event
from devui.runtime.sessions.sqlite_rows import (
    SMALL,
    Key,
    Layout,
    StoredEvent,
    is_short,
    select_events,
)

_TICK = 1e-6
"""Two events fewer seconds apart than this may be ordered by something else in a file."""
_SESSIONS = 16
_EVENTS = 50_000
"""The limits of the cache: sessions, and events unless a single session has more."""


class _History:
    """The events of one session. New ones are parsed when they are requested."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        self._unread_rows: list[str] = []
        self._last = events[-1].timestamp if events else -math.inf
        self.unread_size = 0
        """How many characters are still to be parsed."""

    def __len__(self) -> int:
        return len(self._events) + len(self._unread_rows)

    def read(self) -> list[Event]:
        """Return all events, in a list that the caller may change."""
        self._events += [read_event(data) for data in self._unread_rows]
        self._unread_rows.clear()
        self.unread_size = 0
        return list(self._events)

    def append(self, event: StoredEvent) -> bool:
        """Add an event if it clearly comes last; return whether it was added.

        Its stored form is kept, since the agent may change its own event.
        """
        if event.timestamp - self._last < _TICK:
            return False
        self._unread_rows.append(event.data)
        self.unread_size += len(event.data)
        self._last = event.timestamp
        return True


class GrowingSession(NamedTuple):
    """A session to which an event is being added, and the events it had before."""

    key: Key
    number: int
    history: _History | None


class EventCache:
    """The cached events of one file.

    A write by another connection invalidates the whole cache; this connection's writes are
    reported to it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, _History] = OrderedDict()
        self._size = 0
        """How many events are cached."""
        self._growing: dict[Key, int] = {}
        self._writes = 0
        self._version: int | None = None

    def is_quick(self, connection: sqlite3.Connection, key: Key) -> bool:
        """Return whether `read` is instant, with little to parse; call it in a transaction."""
        with self._lock:
            self._check(connection)
            history = self._entries.get(key)
        return is_short(connection, key) if history is None else history.unread_size <= SMALL

    def read(self, connection: sqlite3.Connection, layout: Layout, key: Key) -> list[Event]:
        """Return all events, in a list that the caller may change; call it in a transaction."""
        with self._lock:
            self._check(connection)
            history = self._entries.get(key)
            if history is not None:
                self._entries.move_to_end(key)
                return history.read()
        history = _History(select_events(connection, layout, key, None))
        with self._lock:
            self._keep(key, history)
            return history.read()

    def begins(self, connection: sqlite3.Connection, key: Key) -> None:
        """Record a session that is being created and has no events."""
        with self._lock:
            self._check(connection)
            self._keep(key, _History([]))

    def grows(self, key: Key) -> GrowingSession:
        """Record that an event is being stored; until `record`, reads go to the file."""
        with self._lock:
            self._writes += 1
            self._growing[key] = self._writes
            history = self._entries.pop(key, None)
            self._size -= len(history or ())
            return GrowingSession(key, self._writes, history)

    def record(self, growing: GrowingSession, event: StoredEvent) -> None:
        """Record that the event is stored."""
        history = growing.history
        with self._lock:
            is_latest = self._growing.pop(growing.key, None) == growing.number
            # The file decides on the place of an event that doesn't clearly come last.
            if is_latest and history is not None and history.append(event):
                self._keep(growing.key, history)

    def clear(self) -> None:
        """Forget everything, because the file was reopened or a session deleted."""
        with self._lock:
            self._forget()
            self._growing.clear()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Forget everything if another connection has written since the last check."""
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            self._forget()
            self._version = version

    def _forget(self) -> None:
        self._entries.clear()
        self._size = 0

    def _keep(self, key: Key, history: _History) -> None:
        self._size += len(history) - len(self._entries.pop(key, ()))
        self._entries[key] = history
        while len(self._entries) > _SESSIONS or (self._size > _EVENTS and len(self._entries) > 1):
            _, oldest = self._entries.popitem(last=False)
            self._size -= len(oldest)
