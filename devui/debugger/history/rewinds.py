"""Which events of a session count no more because it was taken back to before them.

They stay in the history, and no model sees them. A rewind takes back all from the event that it
names up to itself, other rewinds included: what these had taken back counts again, as far as it is
from before that event.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from devui.store.journal import Journal
from devui.store.rows import Rewind

REWINDS: Final = '"rewindBeforeInvocationId"'
"""In the JSON of each event that takes the session back, and of hardly another one."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """The rewinds of a session that hold, in order; no event belongs to two of them."""

    holding: tuple[Rewind, ...] = ()

    @classmethod
    def of(cls, every: Sequence[Rewind]) -> Self:
        """What holds of all rewinds, given in order: the last one, and what it leaves."""
        holding: list[Rewind] = []
        for rewind in reversed(every):
            if not holding or rewind.number < holding[-1].first:
                holding.append(rewind)
        return cls(tuple(reversed(holding)))

    def by(self, number: int) -> int | None:
        """The rewind that took the event back; None for one that counts, and for that rewind."""
        place = bisect_left(self.holding, number, key=lambda rewind: rewind.number)
        if place == len(self.holding):
            return None
        rewind = self.holding[place]
        return rewind.number if rewind.first <= number < rewind.number else None


NOTHING_TAKEN: Final = TakenBack()


async def taken_back(journal: Journal, session: int, *, until: int | None = None) -> TakenBack:
    """What is taken back of the session now, or as of an event."""
    events = journal.events
    rewinds = events.rewinds(session) if until is None else events.rewinds(session, until=until)
    return TakenBack.of(await rewinds)
