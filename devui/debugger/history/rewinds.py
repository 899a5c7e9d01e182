"""Finds the events of a session that no longer count because it was rewound to before them.

They stay in the history, but no model sees them. A rewind takes back everything from the event that
it names up to itself, other rewinds included: events that these had taken back count again if they
are older than the event it names.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from devui.store.journal import Journal
from devui.store.rows import Rewind

REWINDS: Final = '"rewindBeforeInvocationId"'
"""Occurs in the JSON of each event that rewinds the session, and hardly in any other."""


@dataclass(frozen=True, slots=True)
class EffectiveRewinds:
    """The effective rewinds of a session, in order; their ranges don't overlap."""

    holding: tuple[Rewind, ...] = ()

    @classmethod
    def of(cls, every: Sequence[Rewind]) -> Self:
        """Select the effective ones of all rewinds, in order: the last one, and those it leaves."""
        holding: list[Rewind] = []
        for rewind in reversed(every):
            if not holding or rewind.number < holding[-1].first:
                holding.append(rewind)
        return cls(tuple(reversed(holding)))

    def by(self, number: int) -> int | None:
        """Return the rewind that took the event back; None if it counts, as that rewind does."""
        place = bisect_left(self.holding, number, key=lambda rewind: rewind.number)
        if place == len(self.holding):
            return None
        rewind = self.holding[place]
        return rewind.number if rewind.first <= number < rewind.number else None

    def count(self, first: int, last: int) -> int:
        """Return how many of the events from `first` to `last` count, both included."""
        ranges = (
            range(max(first, rewind.first), min(last + 1, rewind.number)) for rewind in self.holding
        )
        return last - first + 1 - sum(map(len, ranges))

    def hidden_by(self, number: int) -> range:
        """Return the events that this rewind takes back; empty if it isn't an effective rewind."""
        return next(
            (range(each.first, number) for each in self.holding if each.number == number), range(0)
        )


NO_REWINDS: Final = EffectiveRewinds()


async def effective_rewinds(
    journal: Journal, session: int, *, until: int | None = None
) -> EffectiveRewinds:
    """Load the rewinds that are effective now, or as of the event `until`."""
    events = journal.events
    rewinds = events.rewinds(session) if until is None else events.rewinds(session, until=until)
    return EffectiveRewinds.of(await rewinds)
