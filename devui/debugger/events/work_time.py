"""How long was worked for an event: the time since the one before, where somebody worked then."""

from devui.store.rows import EventRow
from devui.wire.events import USER


def seconds_of_work(row: EventRow, before: EventRow | None) -> float | None:
    """Seconds from the event before to this one, without those in which the run was held.

    None where no agent was at work in between: at the beginning of a run, and for what a person
    says or sets.
    """
    if before is None or before.run != row.run or row.author == USER:
        return None
    return row.timestamp - before.timestamp - row.paused
