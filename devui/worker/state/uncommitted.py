"""Follows what a run writes to its state until it is committed, while a debugger watches.

A write is pending from the moment it is made until an event carries it. A read of a pending value
by somebody else than its writer is dirty: it may see what never comes to be. A value that differs
from the committed one although nobody has written it was changed in place: no event carries it.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from devui.runtime.sessions.state import State, detached
from devui.wire.uncommitted import StateTouch, Touched
from devui.worker.engines.kit import Event
from devui.worker.link import Refused
from devui.worker.state.actors import NOBODY, Actor, at_work
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
    """A write that is pending."""

    touch: StateTouch
    actor: Actor
    readers: set[Actor] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Leaving:
    """One event on its way."""

    event: Event
    writes: list[Write] = field(default_factory=list)
    """What it carries: as long as it is on its way, nobody else carries or overwrites that."""
    reads: list[int] = field(default_factory=list)
    """Dirty reads on the way to it, by their numbers."""
    flags: list[Write] = field(default_factory=list)
    """What was found to be changed in place when it left."""

    def has(self, write: Write) -> bool:
        """Whether the very value is in its delta."""
        delta, key = self.event.actions.state_delta, write.touch.key
        return key in delta and json_of(delta[key]) == write.touch.value


class Departures:
    """The events of one run that are on their way; not for several threads at once."""

    def __init__(self, send: Callable[[StateTouch], None]) -> None:
        self._send = send
        self._leaving: dict[int, Leaving] = {}
        """By the identity of the event: two may have one id, of which one is refused then."""

    def of(self, event: Event) -> Leaving:
        """What is known of the event, which is on its way from now on."""
        return self._leaving.setdefault(id(event), Leaving(event))

    def has(self, write: Write) -> bool:
        """Whether an event is on its way with the write."""
        return any(write in leaving.writes for leaving in self._leaving.values())

    def take(self, writes: Iterable[Write], *, but: Leaving | None = None) -> None:
        """Tell of those that are in an event which has left without saying so; `but` is passed."""
        for write in writes:
            for leaving in self._leaving.values():
                if leaving is not but and leaving.has(write) and not self.has(write):
                    leaving.writes.append(write)
                    write.touch = replace(write.touch, event=leaving.event.id)
                    self._send(write.touch)

    def let_go(self, event: Event, keys: Iterable[str]) -> list[Write]:
        """The event does not carry these keys any more; returns the writes that no other one
        carries in its place."""
        leaving = self.of(event)
        removed = [write for write in leaving.writes if write.touch.key in keys]
        leaving.writes = [write for write in leaving.writes if write not in removed]
        self.take(removed, but=leaving)
        return [write for write in removed if not self.has(write)]

    def end(self, event: Event, *, answered: bool) -> None:
        """It is on its way no more; what it has not been committed with is pending as before.

        `answered`: whether the server has said what became of it. Otherwise that is as the server
        has noted it, and nothing is told.
        """
        entry = self._leaving.pop(id(event), None)
        writes = entry.writes if entry is not None and answered else []
        self.take(writes)
        for write in writes:
            if not self.has(write):
                write.touch = replace(write.touch, event="")
                self._send(write.touch)


MOST: Final = 2000
"""How many writes and reads are told of one run."""
_PLAIN: Final = (str, int, float, bool, bytes, type(None))
_ABSENT: Final = object()

Send = Callable[[StateTouch], None]


class Uncommitted:
    """The pending writes of one run, and who has read them."""

    def __init__(
        self, run: str, send: Send, agents: Path, bookkeeping: tuple[str, ...], *, on: bool
    ) -> None:
        """`bookkeeping`: as of `Standing`."""
        self.on = on
        self._bookkeeping = bookkeeping
        self._committed: dict[str, Any] = {}
        """The state as it is committed, with values of its own."""
        self._run, self._send, self._agents = run, send, str(agents)
        self._live: LiveState | None = None
        self._lock = threading.RLock()  # tools that are plain functions run in threads
        self._quiet: int | None = None
        """The thread in which the service itself writes what is committed."""
        self._number = 0
        self._pending: dict[str, list[Write]] = {}
        """By key, in the order of writing."""
        self._reads: list[tuple[StateTouch, Actor]] = []
        """Dirty reads on whose events nothing is told yet."""
        self._handed: dict[str, set[Actor]] = {}
        """Keys whose value can be changed in place, and who has it in hand."""
        self._leaving = Departures(send)
        self._latest_texts: dict[str, str] = {}
        """How a value was that was flagged as changed in place."""

    def follow(self, state: dict[str, Any]) -> LiveState:
        """The live state of the run, from now on under this watch."""
        live = self._live = LiveState(state)
        live.watcher = self
        if self.on:
            self._committed = detached(state)
            live.watch()
        return live

    @property
    def free(self) -> bool:
        """Whether nothing is followed yet."""
        return self._live is None

    def begin(self, committed: Mapping[str, Any] | None) -> None:
        """Tell from now on; what is pending already is told with no writer.

        `committed` is the state as it is committed, None if that is not known here.
        """
        before, self.on = self.on, True
        if before or self._live is None:
            return
        self._committed = detached(self._live if committed is None else committed)
        self._live.watch()
        for key in list(self._live):
            if _differ(dict.get(self._live, key), self._committed.get(key, _ABSENT)):
                self.wrote(key, NOBODY)
        with self._lock:
            self._leaving.take(self._writes())

    @contextmanager
    def silent(self) -> Iterator[None]:
        """What this thread writes meanwhile is what is committed: nobody is told."""
        self._quiet = threading.get_ident()
        try:
            yield
        finally:
            self._quiet = None

    # --- what the live state tells ---------------------------------------------------------

    def read(self, key: str, value: Any, actor: Any = None) -> None:
        """As of `Watcher`."""
        if key.startswith(State.TEMP_PREFIX) or (
            isinstance(value, _PLAIN) and key not in self._pending
        ):
            return  # what is never committed is never pending, and may be a secret
        if self._quiet == threading.get_ident() or (
            actor is None and self._bookkeeping and called_from(self._bookkeeping)
        ):
            return
        who: Actor = actor or at_work()
        with self._lock:
            if not isinstance(value, _PLAIN):
                self._handed.setdefault(key, set()).add(who)
            if writes := self._pending.get(key):
                self._dirty(writes[-1], who)

    def wrote(self, key: str, actor: Any = None) -> None:
        """As of `Watcher`."""
        if key.startswith(State.TEMP_PREFIX) or self._quiet == threading.get_ident():
            return
        who: Actor = actor or at_work()
        with self._lock:
            self._write(key, who)

    def read_back(self, key: str, actor: Any) -> None:
        """As of `Watcher`: what was written beside it cannot be seen there."""
        if called_from_runtime():
            return  # nobody's code: it looks for what was changed in place since it was read
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
        """Tell of it under a number, a new one if none is given; None when too much was told."""
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
        """Meanwhile the event is on its way to its commit, whether it gets there or not."""
        with self._lock:
            self._leaving.of(event)
        answered = True
        try:
            yield
        except Refused:
            raise
        except BaseException:  # cancelled, or the server is gone: it may be committed all the same
            answered = False
            raise
        finally:
            with self._lock:
                self._leaving.end(event, answered=answered)

    def at_commit(self, event: Event) -> Touched | None:
        """What the event brings to an end if it is committed as it is now; None if nothing.

        Asked again for one that was revised: what it carries may differ then, what was noticed
        on the way to it stays.
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
        return Touched(settles=settles, reads=list(leaving.reads), flags=flags)

    def committed(self, event: Event) -> None:
        """The event is committed: what it carried is pending no longer."""
        if not self.on:
            return
        with self._lock:
            self._committed.update(detached(event.actions.state_delta))
            leaving = self._leaving.of(event)
            self._forget(leaving.writes)
            leaving.writes = []

    def void(self, event: Event, *, keys: Iterable[str]) -> None:
        """A person had these keys not committed: what it carried of them is lost."""
        with self._lock:
            lost = self._leaving.let_go(event, keys)
            for write in lost:
                self._send(replace(write.touch, lost=True, event=""))
            self._forget(lost)

    def end(self) -> None:
        """The run is over: tell what was changed in place since the last commit."""
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
        """The writes whose value is in the event; those of its author count first."""
        for key, value in event.actions.state_delta.items():
            writes = [write for write in self._pending.get(key, ()) if not self._leaving.has(write)]
            own = [write for write in writes if _of(event, write.actor)]
            text = json_of(value)
            same = [write for write in own or writes if write.touch.value == text]
            if own and not same:  # it was changed in place since it was written
                own[-1].touch = replace(own[-1].touch, value=text)
                self._send(own[-1].touch)
                same = own[-1:]
            yield from same
            for write in own:
                if write not in same:
                    self._send(replace(write.touch, overwritten=True))
                    self._forget([write])

    def _changed_in_place(self, event: Event | None) -> Iterator[Write]:
        """Changes that no delta carries, by the event's author; without one, by anybody."""
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
        """Keys that the author has put into the state itself, which an event would have to carry.

        What callbacks and tools write comes with the event that is made of them; what an agent's
        own code writes is in the delta of the next event that it makes, or in none.
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
    """Whether two write at the same time: on branches beside each other, or in two tool calls."""
    if one.call and other.call and one.call != other.call:
        return True
    mine, yours = (one.branch or "").split("."), (other.branch or "").split(".")
    common = min(len(mine), len(yours))
    return one.branch != other.branch and mine[:common] != yours[:common]


def _of(event: Event, who: Actor) -> bool:
    """Whether the event is made of what this actor did."""
    if who.call:
        return who.call in {response.id for response in event.get_function_responses()}
    return _near(event, who)


def _near(event: Event, who: Actor) -> bool:
    """Whether the event is of this actor's agent, as far as that is known."""
    return who == NOBODY or who.agent == event.author


def _by_hand(write: Write) -> bool:
    """Whether an agent's own code wrote it, and no callback, tool or part of the runtime."""
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
