"""The scrubber's picture: one mark per event, or per bin of events in long sessions."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from devui.debugger.summary import Kind
from devui.web.parts.session import Marks, Ticks
from devui.web.presenters.kinds import LOUDNESS, kind_of

BINS: Final = 300
WIDTH: Final = 998
"""Of a picture 1000 wide, less the width of a mark."""
HEIGHT: Final = 24


def ticks(kinds: Sequence[str]) -> Ticks:
    """The marks of all events of a session, in order, by their kinds as the journal has them."""
    return _drawn(tuple(kinds))


@lru_cache(maxsize=16)
def _drawn(stored: tuple[str, ...]) -> Ticks:
    """Every look at a session draws the same."""
    kinds, count = [kind_of(kind) for kind in stored], len(stored)
    if count <= BINS:
        return Ticks(count, _marks(kinds))
    starts = [count * i // BINS for i in range(BINS + 1)]
    bins = (kinds[a:b] for a, b in pairwise(starts))
    return Ticks(count, _marks([max(members, key=LOUDNESS.__getitem__) for members in bins]))


def _marks(kinds: Sequence[Kind]) -> tuple[Marks, ...]:
    """One shape per kind: three hundred elements would be as much work as the rest of the page."""
    last = max(len(kinds) - 1, 1)
    paths: defaultdict[Kind, list[str]] = defaultdict(list)
    for index, kind in enumerate(kinds):
        x, height = round(WIDTH * index / last, 1), LOUDNESS[kind]
        paths[kind].append(f"M{x:g} {HEIGHT - height}h2v{height}h-2z")
    return tuple(Marks(kind, "".join(path)) for kind, path in paths.items())
