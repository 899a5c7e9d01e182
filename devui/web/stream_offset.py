"""Positions in a journal from which the readers of a stream resume.

A sequence number is meaningless in another journal. A page may outlive the data folder it was read
from, and the numbers of the new journal soon reach the old ones; so each offset names its journal.
"""

from dataclasses import dataclass
from typing import Self

from devui.web.text.numbers import whole_number


class ForeignOffset(Exception):
    """The text isn't an offset, or names another journal; the reader has to reload the page."""


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """A position in a journal."""

    journal: str
    seq: int

    def __str__(self) -> str:
        return f"{self.journal}.{self.seq}"

    @classmethod
    def read(cls, text: str | None, journal: str) -> Self:
        """Parse the offset in a URL or header; without one, or for 0, return the beginning.

        Raises ForeignOffset if the text isn't an offset of the journal with the id `journal`.
        """
        if not text or text == "0":
            return cls(journal, 0)
        name, _, number = text.rpartition(".")
        seq = whole_number(number)
        if name != journal or seq is None:
            raise ForeignOffset
        return cls(journal, seq)
