"""Compares the prompts of two runs: their models, instructions, tools and settings.

Messages are left out: they follow from earlier events, which the rows show.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from devui.debugger.compare.comparison import Comparison
from devui.debugger.compare.sides import Side
from devui.store.journal import Journal

_PIECES: Final = ("model", "system", "tools", "config")


@dataclass(frozen=True, slots=True)
class OtherPrompt:
    """A piece of the prompt that differs, and the first events where it does."""

    piece: str
    """`model`, `system`, `tools` or `config`."""
    left: int
    right: int


async def other_prompts(
    journal: Journal, left: Side, right: Side, comparison: Comparison
) -> list[OtherPrompt]:
    """Return the pieces that differ anywhere, each with the first pair of events where it does."""
    ours = await journal.spans.settings(left.session.key)
    theirs = await journal.spans.settings(right.session.key)
    prompts: dict[str, OtherPrompt] = {}
    for first, second in _pairs(comparison):
        if first in ours and second in theirs:
            pieces = zip(_PIECES, ours[first], theirs[second], strict=True)
            differing = [piece for piece, old, new in pieces if old != new]
            prompts = {piece: OtherPrompt(piece, first, second) for piece in differing} | prompts
    return [prompts[piece] for piece in _PIECES if piece in prompts]


def _pairs(comparison: Comparison) -> Iterator[tuple[int, int]]:
    """Yield the numbers of corresponding events."""
    for row in comparison.rows:
        if row.left and (right := row.right or row.moved_to):
            yield row.left, right
