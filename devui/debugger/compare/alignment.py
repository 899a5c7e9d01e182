"""Aligns two sequences: which items correspond, and which stand alone.

The more alike two items are, the higher the weight of their pair. The alignment is the heaviest one
that keeps the order of both sides (Needleman-Wunsch without a gap penalty). Identical items at the
beginning and end are set aside first, which doesn't change the result. A large rest is split at
items that occur once on each side, as in patience diff, or searched in a band around the diagonal.
So the amount of work depends only on the input, never on a clock.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

SAME: Final = 100
"""The weight of two items with the same sign; all other pairs weigh less."""
CELLS: Final = 250_000
"""The maximum number of pairs of items to weigh in one stretch."""

Pair: TypeAlias = tuple[int | None, int | None]
"""The indexes of two items that correspond, or of one that stands alone."""


class Item(Protocol):
    """An item that can be aligned."""

    @property
    def sign(self) -> Hashable:
        """Items with the same sign are the same."""


T = TypeVar("T", bound=Item)


def aligned(left: Sequence[T], right: Sequence[T], weigh: Callable[[T, T], int]) -> Iterator[Pair]:
    """Yield every item of both sides once, in order; lone items on the left come first.

    `weigh` returns how alike two items with different signs are: 0 if they can't be paired, always
    less than SAME, and symmetric. Swapping the sides gives the same pairs.
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
    """Items `a` up to `b` of the first sequence and `c` up to `d` of the second, ends excluded."""

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
        """Yield the pairs, in order."""
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
            # Each anchor starts a stretch up to the next; the first one is on top of the stack.
            bounds = [(inner.a, inner.c), *anchors, (inner.b, inner.d), (whole.b, whole.d)]
            parts = [_Stretch(a, b, c, d) for (a, c), (b, d) in pairwise(bounds)]
            waiting += reversed(parts)

    def _same(self, i: int, j: int) -> bool:
        return self._first[i].sign == self._second[j].sign

    def _trim(self, whole: _Stretch) -> tuple[int, _Stretch]:
        """Return the number of identical items at the start, and the stretch without both ends."""
        a, b, c, d = whole.a, whole.b, whole.c, whole.d
        while a < b and c < d and self._same(a, c):
            a, c = a + 1, c + 1
        while a < b and c < d and self._same(b - 1, d - 1):
            b, d = b - 1, d - 1
        return a - whole.a, _Stretch(a, b, c, d)

    def _anchors(self, inner: _Stretch) -> list[tuple[int, int]]:
        """Return pairs of items that occur once on each side, as many as are in the same order."""
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
        """Yield the heaviest alignment of a stretch; in a very large one, the one in a band."""
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
            # The next row's band reaches farther; scores there are at least this row's last one.
            for j in range(stop + 1, min(stop + columns // rows + 2, columns + 1)):
                scores[j] = max(scores[j], scores[stop])
        yield from _trace_back(inner, steps)

    def _row(self, i: int, offset: int, scores: list[int], columns: range) -> bytearray:
        """Weigh one item against those of the columns; return the step to each cell's score."""
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
    """Return the pairs by following the steps back from the last cell."""
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
    """Return the longest subsequence whose second indexes rise; the first ones do already."""
    ends: list[int] = []
    """For each length, the smallest second index that ends a chain of it."""
    last: list[int] = []
    """For each length, the position of the pair that ends this chain."""
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
