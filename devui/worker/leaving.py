"""Events that are on their way to their commit, and which pending writes each of them carries.

On its way an event may be held, revised, dropped or refused, while others of the run leave as well:
those of parallel agents, or what an agent commits itself.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from devui.runtime.events.event import Event
from devui.wire.uncommitted import StateTouch
from devui.worker.acting import Actor
from devui.worker.statetexts import json_of


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
        gone = [write for write in leaving.writes if write.touch.key in keys]
        leaving.writes = [write for write in leaving.writes if write not in gone]
        self.take(gone, but=leaving)
        return [write for write in gone if not self.has(write)]

    def end(self, event: Event, *, answered: bool) -> None:
        """It is on its way no more; what it has not been committed with is pending as before.

        `answered`: whether the server has said what became of it. Otherwise that is as the server
        has noted it, and nothing is told.
        """
        left = self._leaving.pop(id(event), None)
        writes = left.writes if left is not None and answered else []
        self.take(writes)
        for write in writes:
            if not self.has(write):
                write.touch = replace(write.touch, event="")
                self._send(write.touch)
