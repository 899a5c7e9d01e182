"""The events of a session that take it back."""

from dataclasses import dataclass

from devui.store.journal import Journal

_OF = "SELECT number, first FROM rewinds WHERE session = ? AND number <= ? ORDER BY number"
_END = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Rewind:
    """One of them."""

    number: int
    """Its own."""
    first: int
    """The first event that it takes back; all up to itself are."""


async def rewinds(journal: Journal, session: int, *, until: int | None = None) -> list[Rewind]:
    """Return those up to the event of this number, ascending."""
    rows = await journal.fetch(_OF, session, _END if until is None else until)
    return [Rewind(*row) for row in rows]
