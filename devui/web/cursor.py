"""Points of a journal, by which readers of a stream say how far they have come.

A seq says nothing to another journal. A page may outlive the data folder it was read from, and the
new journal's numbers soon reach the old ones; so each cursor names the journal it belongs to.
"""

from dataclasses import dataclass
from typing import Self

from devui.web.text.numbers import whole_number


class ForeignCursor(Exception):
    """The cursor is not of this journal, or none at all: its reader has to read the page anew."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A point of a journal."""

    journal: str
    seq: int

    def __str__(self) -> str:
        return f"{self.journal}.{self.seq}"

    @classmethod
    def read(cls, text: str | None, journal: str) -> Self:
        """The point that an address or header names; without one, or for 0, the beginning.

        Raises ForeignCursor for a point that is not of the journal with this id.
        """
        if not text or text == "0":
            return cls(journal, 0)
        name, _, number = text.rpartition(".")
        seq = whole_number(number)
        if name != journal or seq is None:
            raise ForeignCursor
        return cls(journal, seq)
