"""How long was worked for an event: the time since the one before, where somebody worked then."""

from typing import Protocol

from devui.wire.events import USER


class Timed(Protocol):
    """An event, as far as time goes; its members are as in `EventRow`."""

    @property
    def run(self) -> str | None: ...
    @property
    def author(self) -> str: ...
    @property
    def timestamp(self) -> float: ...
    @property
    def paused(self) -> float: ...


def seconds_of_work(row: Timed, before: Timed | None) -> float | None:
    """Seconds from the event before to this one, without those in which the run was held.

    None where no agent was at work in between: at the beginning of a run, and for what a person
    says or sets.
    """
    if before is None or before.run != row.run or row.author == USER:
        return None
    return row.timestamp - before.timestamp - row.paused
