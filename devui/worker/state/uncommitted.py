"""Tracks a run's writes to its state until they are committed, while a debugger watches.

A write is pending from when it is made until an event carries it. Another actor's read of a pending
value is dirty, since the value may never be committed. A value that differs from the committed one
although nobody has written it was changed in place; no event carries the change.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from devui.runtime.sessions.state import State, detached
from devui.wire.uncommitted import CommittedTouches, StateTouch
from devui.worker.engines.kit import Event
from devui.worker.link import RequestRefused
from devui.worker.state.actors import NOBODY, Actor, current_actor
from devui.worker.state.live import LiveState
from devui.worker.state.values import (
    called_from,
    called_from_runtime,
    differing,
    json_of,
    place_in,
    same,
)


@dataclass(slots=True, eq=False)
class Write:
    """A pending write."""

    touch: StateTouch
    actor: Actor
    readers: set[Actor] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class CommittingEvent:
    """An event that is being committed."""

    event: Event
    writes: list[Write] = field(default_factory=list)
    """The writes that it carries; meanwhile, no other event can carry or overwrite them."""
    reads: list[int] = field(default_factory=list)
    """The dirty reads that led to it, by number."""
    flags: list[Write] = field(default_factory=list)
    """The changes in place that were found when its commit began."""

    def has(self, write: Write) -> bool:
        """Return whether the event's delta has exactly the written value."""
        delta, key = self.event.actions.state_delta, write.touch.key
        return key in delta and json_of(delta[key]) == write.touch.value


class CommittingEvents:
    """The events of one run that are being committed; not thread-safe."""

    def __init__(self, send: Callable[[StateTouch], None]) -> None:
        self._send = send
        self._leaving: dict[int, CommittingEvent] = {}
        """By identity of the event: two may have the same id until one is refused."""

    def of(self, event: Event) -> CommittingEvent:
        """Return the entry of an event, which is being committed from now on."""
        return self._leaving.setdefault(id(event), CommittingEvent(event))

    def has(self, write: Write) -> bool:
        """Return whether an event that is being committed carries the write."""
        return any(write in leaving.writes for leaving in self._leaving.values())

    def take(self, writes: Iterable[Write], *, but: CommittingEvent | None = None) -> None:
        """Assign and report writes that an event carries unannounced; `but` is skipped."""
        for write in writes:
            for leaving in self._leaving.values():
                if leaving is not but and leaving.has(write) and not self.has(write):
                    leaving.writes.append(write)
                    write.touch = replace(write.touch, event=leaving.event.id)
                    self._send(write.touch)

    def let_go(self, event: Event, keys: Iterable[str]) -> list[Write]:
        """Remove keys from what the event carries; return the writes that no other carries."""
        leaving = self.of(event)
        removed = [write for write in leaving.writes if write.touch.key in keys]
        leaving.writes = [write for write in leaving.writes if write not in removed]
        self.take(removed, but=leaving)
        return [write for write in removed if not self.has(write)]

    def end(self, event: Event, *, answered: bool) -> None:
        """End the commit of an event; what wasn't committed with it is pending again.

        `answered`: whether the server has reported the outcome. Otherwise the server's own record
        counts, and nothing is reported.
        """
        entry = self._leaving.pop(id(event), None)
        writes = entry.writes if entry is not None and answered else []
        self.take(writes)
        for write in writes:
            if not self.has(write):
                write.touch = replace(write.touch, event="")
                self._send(write.touch)


MOST: Final = 2000
"""The most writes and reads to report for one run."""
_PLAIN: Final = (str, int, float, bool, bytes, type(None))
_ABSENT: Final = object()

Send = Callable[[StateTouch], None]


class Uncommitted:
    """The pending writes of one run and their readers."""

    def __init__(
        self, run: str, send: Send, agents: Path, bookkeeping: tuple[str, ...], *, on: bool
    ) -> None:
        """`bookkeeping` is that of `FrameReader`."""
        self.on = on
        self._bookkeeping = bookkeeping
        self._committed: dict[str, Any] = {}
        """A copy of the committed state."""
        self._run, self._send, self._agents = run, send, str(agents)
        self._live: LiveState | None = None
        self._lock = threading.RLock()  # tools that are plain functions run in threads
        self._quiet: int | None = None
        """The thread in which the session service itself writes committed values."""
        self._number = 0
        self._pending: dict[str, list[Write]] = {}
        """The writes in order, by key."""
        self._reads: list[tuple[StateTouch, Actor]] = []
        """Dirty reads that aren't assigned to an event yet."""
        self._handed: dict[str, set[Actor]] = {}
        """Keys with a mutable value, and the actors that hold a reference to it."""
        self._leaving = CommittingEvents(send)
        self._latest_texts: dict[str, str] = {}
        """The last value, by key, that was flagged as changed in place."""

    def follow(self, state: dict[str, Any]) -> LiveState:
        """Return the live state of the run, tracked from now on."""
        live = self._live = LiveState(state)
        live.watcher = self
        if self.on:
            self._committed = detached(state)
            live.watch()
        return live

    @property
    def free(self) -> bool:
        """Whether no state is tracked yet."""
        return self._live is None

    def begin(self, committed: Mapping[str, Any] | None) -> None:
        """Start reporting; writes that are already pending are reported without their writer.

        `committed` is the committed state, or None if it isn't known here.
        """
        before, self.on = self.on, True
        if before or self._live is None:
            return
        self._committed = detached(self._live if committed is None else committed)
        self._live.watch()
        for key in list(self._live):
            if _differ(dict.get(self._live, key), self._committed.get(key, _ABSENT)):
                self.on_write(key, NOBODY)
        with self._lock:
            self._leaving.take(self._writes())

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Report nothing that this thread writes inside the block: these values are committed."""
        self._quiet = threading.get_ident()
        try:
            yield
        finally:
            self._quiet = None

    # --- reports of the live state ---------------------------------------------------------

    def read(self, key: str, value: Any, actor: Any = None) -> None:
        """Handle a read, as in `Watcher`."""
        if key.startswith(State.TEMP_PREFIX) or (
            isinstance(value, _PLAIN) and key not in self._pending
        ):
            return  # what is never committed is never pending, and may be a secret
        if self._quiet == threading.get_ident() or (
            actor is None and self._bookkeeping and called_from(self._bookkeeping)
        ):
            return
        who: Actor = actor or current_actor()
        with self._lock:
            if not isinstance(value, _PLAIN):
                self._handed.setdefault(key, set()).add(who)
            if writes := self._pending.get(key):
                self._dirty(writes[-1], who)

    def on_write(self, key: str, actor: Any = None) -> None:
        """Handle a write, as in `Watcher`."""
        if key.startswith(State.TEMP_PREFIX) or self._quiet == threading.get_ident():
            return
        who: Actor = actor or current_actor()
        with self._lock:
            self._write(key, who)

    def read_back(self, key: str, actor: Any) -> None:
        """Handle a read from a delta, as in `Watcher`, which shows only writes to that delta."""
        if called_from_runtime():
            return  # the runtime itself looks for values that were changed in place
        with self._lock:
            writes = [w for w in self._pending.get(key, ()) if actor.shares_delta(w.actor)]
            if writes:
                self._dirty(writes[-1], actor)

    def _dirty(self, write: Write, who: Actor) -> None:
        if who == write.actor or who in write.readers:
            return
        write.readers.add(who)
        touch = self._touch(write.touch.key, who, reads=write.touch.number)
        if touch is not None:
            self._reads.append((touch, who))

    def _write(self, key: str, who: Actor, paths: Iterable[str] = ()) -> Write | None:
        writes = self._pending.setdefault(key, [])
        mine = next((w for w in writes if w.actor == who and not self._leaving.has(w)), None)
        others = [write for write in writes if write.actor != who and apart(write.actor, who)]
        number = None
        if mine is not None:
            writes.remove(mine)
            if mine.readers or mine.touch.paths:
                self._send(replace(mine.touch, overwritten=True))
            else:
                number = mine.touch.number
        touch = self._touch(
            key,
            who,
            number=number,
            value=self._value(key),
            paths=list(paths),
            overlaps=others[-1].touch.number if others else None,
        )
        if touch is None:
            return None
        write = Write(touch, who)
        writes.append(write)
        return write

    def _touch(self, key: str, who: Actor, number: int | None = None, **more: Any) -> Any:
        """Report a touch, under a new number if none is given; None if the limit is reached."""
        if number is None:
            if self._number >= MOST:
                return None
            self._number += 1
        touch = StateTouch(
            run=self._run,
            number=number or self._number,
            key=key,
            agent=who.agent,
            branch=who.branch,
            tool=who.tool,
            call=who.call,
            role=who.role,
            place=place_in(self._agents),
            at=time.time(),
            old=self._old(key),
            **more,
        )
        self._send(touch)
        return touch

    def _old(self, key: str) -> str | None:
        value = self._committed.get(key, _ABSENT)
        return None if value is _ABSENT else json_of(value)

    def _value(self, key: str) -> str | None:
        value = dict.get(self._live or {}, key, _ABSENT)
        return None if value is _ABSENT else json_of(value)

    # --- commits ---------------------------------------------------------------------------

    @contextmanager
    def leaving(self, event: Event) -> Iterator[None]:
        """Treat the event as being committed inside the block, whether or not that succeeds."""
        with self._lock:
            self._leaving.of(event)
        answered = True
        try:
            yield
        except RequestRefused:
            raise
        except BaseException:  # cancelled, or the server is gone; the event may still be committed
            answered = False
            raise
        finally:
            with self._lock:
                self._leaving.end(event, answered=answered)

    def at_commit(self, event: Event) -> CommittedTouches | None:
        """Return what the event settles if it is committed as it is now; None if nothing.

        Called again for a revised event, which may carry other writes; reads and changes in place
        found before are kept.
        """
        if not self.on:
            return None
        with self._lock:
            leaving = self._leaving.of(event)
            leaving.writes = []
            leaving.flags += self._changed_in_place(event)
            leaving.writes = list(self._writes_in(event))
            of_event = [pair for pair in self._reads if _of(event, pair[1])]
            self._reads = [pair for pair in self._reads if pair not in of_event]
            leaving.reads += [touch.number for touch, _ in of_event]
        settles = [write.touch.number for write in leaving.writes]
        delta = event.actions.state_delta
        flags = [write.touch.number for write in leaving.flags if write.touch.key not in delta]
        if not (settles or leaving.reads or flags):
            return None
        return CommittedTouches(settles=settles, reads=list(leaving.reads), flags=flags)

    def committed(self, event: Event) -> None:
        """Remove the writes that a committed event carried."""
        if not self.on:
            return
        with self._lock:
            self._committed.update(detached(event.actions.state_delta))
            leaving = self._leaving.of(event)
            self._forget(leaving.writes)
            leaving.writes = []

    def void(self, event: Event, *, keys: Iterable[str]) -> None:
        """Report writes as lost because a person removed these keys from the event."""
        with self._lock:
            lost = self._leaving.let_go(event, keys)
            for write in lost:
                self._send(replace(write.touch, lost=True, event=""))
            self._forget(lost)

    def end(self) -> None:
        """Report what was changed in place since the last commit, at the end of the run."""
        if self.on and self._live is not None:
            with self._lock:
                list(self._changed_in_place(None))

    def _writes(self) -> Iterator[Write]:
        for writes in self._pending.values():
            yield from writes

    def _forget(self, old_writes: list[Write]) -> None:
        for key, writes in list(self._pending.items()):
            remaining = [write for write in writes if write not in old_writes]
            if remaining:
                self._pending[key] = remaining
            else:
                del self._pending[key]

    def _writes_in(self, event: Event) -> Iterator[Write]:
        """Yield the writes whose value is in the event; those of its author take precedence."""
        for key, value in event.actions.state_delta.items():
            writes = [write for write in self._pending.get(key, ()) if not self._leaving.has(write)]
            own = [write for write in writes if _of(event, write.actor)]
            text = json_of(value)
            same = [write for write in own or writes if write.touch.value == text]
            if own and not same:  # the value was changed in place after the write
                own[-1].touch = replace(own[-1].touch, value=text)
                self._send(own[-1].touch)
                same = own[-1:]
            yield from same
            for write in own:
                if write not in same:
                    self._send(replace(write.touch, overwritten=True))
                    self._forget([write])

    def _changed_in_place(self, event: Event | None) -> Iterator[Write]:
        """Yield an author's changes that no delta carries; everyone's if `event` is None."""
        delta = event.actions.state_delta if event is not None else {}
        for key, hands in list(self._handed.items()):
            mine = {who for who in hands if event is None or _near(event, who)}
            if not mine:
                continue
            hands.difference_update(mine)
            if not hands:
                del self._handed[key]
            is_written = any(not write.touch.paths for write in self._pending.get(key, ()))
            if (
                key not in delta
                and not is_written
                and (change := self._in_place(key, mine | hands))
            ):
                yield change
        if event is not None:
            yield from self._raw(event)

    def _in_place(self, key: str, hands: set[Actor]) -> Write | None:
        now = dict.get(self._live or {}, key, _ABSENT)
        then = self._committed.get(key, _ABSENT)
        if now is _ABSENT or not _differ(now, then):
            return None
        text = json_of(now)
        if self._latest_texts.get(key) == text:
            return None
        self._latest_texts[key] = text
        who = next(iter(hands)) if len(hands) == 1 else _any_of(hands)
        return self._write(key, who, differing(key, None if then is _ABSENT else then, now))

    def _raw(self, event: Event) -> Iterator[Write]:
        """Yield the author's direct writes to the state, which an event would have to carry.

        Writes of callbacks and tools come with the event made from them. Writes of an agent's own
        code are in the delta of the agent's next event, or in none.
        """
        delta = event.actions.state_delta
        for key, writes in self._pending.items():
            for write in writes:
                if key in delta or write.touch.paths or not _by_hand(write):
                    continue
                if _near(event, write.actor) and not self._leaving.has(write):
                    write.touch = replace(write.touch, paths=[key])
                    self._send(write.touch)
                    yield write


def apart(one: Actor, other: Actor) -> bool:
    """Return whether two actors work concurrently: on parallel branches, or in two tool calls."""
    if one.call and other.call and one.call != other.call:
        return True
    mine, yours = (one.branch or "").split("."), (other.branch or "").split(".")
    common = min(len(mine), len(yours))
    return one.branch != other.branch and mine[:common] != yours[:common]


def _of(event: Event, who: Actor) -> bool:
    """Return whether the event is made from what this actor did."""
    if who.call:
        return who.call in {response.id for response in event.get_function_responses()}
    return _near(event, who)


def _near(event: Event, who: Actor) -> bool:
    """Return whether the event may be from this actor's agent."""
    return who == NOBODY or who.agent == event.author


def _by_hand(write: Write) -> bool:
    """Return whether an agent's own code wrote it, rather than a callback, tool or the runtime."""
    return bool(write.actor.agent and write.touch.place) and not (
        write.actor.role or write.actor.call
    )


def _any_of(hands: set[Actor]) -> Actor:
    names = sorted({who.agent for who in hands if who.agent})
    return Actor(" or ".join(names))


def _differ(now: Any, then: Any) -> bool:
    if then is _ABSENT:
        return True
    return not same(now, then) and json_of(now) != json_of(then)
