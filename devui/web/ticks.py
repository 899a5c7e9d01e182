"""The scrubber's picture: one mark per event, or per bin of events in long sessions."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from devui.debugger.summary import Kind
from devui.web.kinds import LOUDNESS
from devui.web.parts import Tick, Ticks

BINS: Final = 300
WIDTH: Final = 998
"""Of a picture 1000 wide, less the width of a mark."""


def ticks(kinds: Sequence[Kind]) -> Ticks:
    """The marks of all events of a session, in order, by their kinds."""
    count = len(kinds)
    if count <= BINS:
        return Ticks(count, tuple(_mark(kind, i, count) for i, kind in enumerate(kinds)))
    starts = [count * i // BINS for i in range(BINS + 1)]
    bins = (kinds[a:b] for a, b in pairwise(starts))
    loudest = [max(members, key=LOUDNESS.__getitem__) for members in bins]
    return Ticks(count, tuple(_mark(kind, i, BINS) for i, kind in enumerate(loudest)))


def _mark(kind: Kind, index: int, count: int) -> Tick:
    x = WIDTH * index / (count - 1) if count > 1 else 0.0
    return Tick(kind=kind, x=round(x, 1), height=LOUDNESS[kind])
