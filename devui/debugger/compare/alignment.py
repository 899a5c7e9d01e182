"""Two sequences beside each other: which items belong together, and which stand alone.

What is alike weighs, and the alignment is the heaviest one that keeps the order of both sides
(Needleman-Wunsch without a price for gaps). What both begin and end with alike is taken off first,
which changes nothing. What is left and large is parted at items that occur once on each side, as
patience diff does, or looked at in a band around the diagonal: so the work is bounded, by what is
compared and never by a clock.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

SAME: Final = 100
"""What two items of one sign weigh; no other pair may weigh as much."""
CELLS: Final = 250_000
"""Pairs of items that are weighed for one stretch."""

Pair: TypeAlias = tuple[int | None, int | None]
"""The places of two items that belong together, or of one that stands alone."""


class Item(Protocol):
    """What can be aligned."""

    @property
    def sign(self) -> Hashable:
        """Two items of one sign are the same; signs have an order."""


T = TypeVar("T", bound=Item)


def aligned(left: Sequence[T], right: Sequence[T], weigh: Callable[[T, T], int]) -> Iterator[Pair]:
    """Every item of both sides once, in their order; what stands alone on the left comes first.

    `weigh` says how much two items of different signs are alike: 0 if they may not stand together,
    less than SAME, and the same whichever comes first. With the sides exchanged the pairs are the
    same.
    """
    is_swapped = _order(right) < _order(left)
    first, second = (right, left) if is_swapped else (left, right)
    matches = _Aligner(first, second, weigh).pairs()
    pairs = [(j, i) for i, j in matches] if is_swapped else list(matches)
    at_left = at_right = 0
    for i, j in [*pairs, (len(left), len(right))]:
        yield from ((place, None) for place in range(at_left, i))
        yield from ((None, place) for place in range(at_right, j))
        if i < len(left):
            yield i, j
        at_left, at_right = i + 1, j + 1


def _order(items: Sequence[Item]) -> tuple[int, list[str]]:
    return len(items), [str(item.sign) for item in items]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Items `a` up to `b` of the first sequence, `c` up to `d` of the second."""

    a: int
    b: int
    c: int
    d: int

    @property
    def cells(self) -> int:
        return (self.b - self.a) * (self.d - self.c)


class _Aligner(Generic[T]):
    def __init__(
        self, first: Sequence[T], second: Sequence[T], weigh: Callable[[T, T], int]
    ) -> None:
        self._first, self._second, self._weigh = first, second, weigh

    def pairs(self) -> Iterator[tuple[int, int]]:
        """What belongs together, in order."""
        waiting = [_Stretch(0, len(self._first), 0, len(self._second))]
        while waiting:
            whole = waiting.pop()
            head, inner = self._trim(whole)
            yield from ((whole.a + i, whole.c + i) for i in range(head))
            tail = [(inner.b + i, inner.d + i) for i in range(whole.b - inner.b)]
            anchors = self._anchors(inner) if inner.cells > CELLS else []
            if not anchors:
                yield from self._heaviest(inner)
                yield from tail
                continue
            # From each anchor to the next is a stretch of its own; the first one is looked at next.
            bounds = [(inner.a, inner.c), *anchors, (inner.b, inner.d), (whole.b, whole.d)]
            parts = [_Stretch(a, b, c, d) for (a, c), (b, d) in pairwise(bounds)]
            waiting += reversed(parts)

    def _same(self, i: int, j: int) -> bool:
        return self._first[i].sign == self._second[j].sign

    def _trim(self, whole: _Stretch) -> tuple[int, _Stretch]:
        """How many items are the same at the beginning, and what is left without the end."""
        a, b, c, d = whole.a, whole.b, whole.c, whole.d
        while a < b and c < d and self._same(a, c):
            a, c = a + 1, c + 1
        while a < b and c < d and self._same(b - 1, d - 1):
            b, d = b - 1, d - 1
        return a - whole.a, _Stretch(a, b, c, d)

    def _anchors(self, inner: _Stretch) -> list[tuple[int, int]]:
        """Items that occur once on each side, as many as stand in the same order on both."""
        counts = Counter(self._first[i].sign for i in range(inner.a, inner.b))
        others = Counter(self._second[j].sign for j in range(inner.c, inner.d))
        places = {self._second[j].sign: j for j in range(inner.c, inner.d)}
        once = [
            (i, places[sign])
            for i in range(inner.a, inner.b)
            if counts[sign := self._first[i].sign] == 1 and others[sign] == 1
        ]
        return _rising(once)

    def _heaviest(self, inner: _Stretch) -> Iterator[tuple[int, int]]:
        """The heaviest alignment of a stretch; of a very large one, that in a band."""
        rows, columns = inner.b - inner.a, inner.d - inner.c
        if not rows or not columns:
            return
        half = max(CELLS // rows // 2, columns // rows) if inner.cells > CELLS else columns
        scores = [0] * (columns + 1)
        steps: list[tuple[int, bytearray]] = []
        for row in range(rows):
            middle = row * columns // rows
            start, stop = max(middle - half, 0), min(middle + half + 1, columns)
            band = range(start, stop)
            steps.append((start, self._row(inner.a + row, inner.c, scores, band)))
            # The next row's band reaches farther; nothing there is worse than what is in this one.
            for j in range(stop + 1, min(stop + columns // rows + 2, columns + 1)):
                scores[j] = max(scores[j], scores[stop])
        yield from _trace_back(inner, steps)

    def _row(self, i: int, offset: int, scores: list[int], columns: range) -> bytearray:
        """Weigh one item against those of the columns; how each cell's best score came about."""
        item, second, weigh = self._first[i], self._second, self._weigh
        sign = item.sign
        steps = bytearray(len(columns))
        diagonal, best = scores[columns.start], scores[columns.start]
        for place, j in enumerate(columns):
            above = scores[j + 1]
            other = second[offset + j]
            weight = SAME if sign == other.sign else weigh(item, other)
            if weight and diagonal + weight >= above and diagonal + weight >= best:
                best, steps[place] = diagonal + weight, _TOGETHER
            elif above > best:
                best, steps[place] = above, _UP
            diagonal, scores[j + 1] = above, best
        return steps


_LEFT: Final = 0
_UP: Final = 1
_TOGETHER: Final = 2


def _trace_back(inner: _Stretch, steps: list[tuple[int, bytearray]]) -> list[tuple[int, int]]:
    """The pairs, found from the last cell back."""
    pairs = []
    row, column = len(steps) - 1, inner.d - inner.c - 1
    while row >= 0 and column >= 0:
        start, directions = steps[row]
        place = column - start
        step = _UP if place < 0 else _LEFT if place >= len(directions) else directions[place]
        if step == _TOGETHER:
            pairs.append((inner.a + row, inner.c + column))
        row -= step != _LEFT
        column -= step != _UP
    return pairs[::-1]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part in which the second places rise; the first ones do already."""
    ends: list[int] = []
    """The second place that ends the best run of each length."""
    last: list[int] = []
    """The pair that does."""
    before: list[int | None] = []
    for place, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else None)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [place]
    chain: list[tuple[int, int]] = []
    at = last[-1] if last else None
    while at is not None:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]
