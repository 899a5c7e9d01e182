"""Aligns a fork with its parent or with another fork: what they share is known, not guessed.

Up to the fork, both have the same events with the same numbers. The fork's continuation is paired
with what the other side did in the same turn, even if a later turn resembles it more. Only later
turns that both sides have are aligned by likeness. If only one side has later turns, nothing
differs: the other side hasn't got there.
"""

from collections.abc import Iterator, Sequence

from devui.debugger.compare.alignment import Pair, aligned
from devui.debugger.compare.steps import Step, likeness


def fork_pairs(left: Sequence[Step], right: Sequence[Step], shared: int) -> tuple[list[Pair], int]:
    """Return the pairs of two sides with `shared` events in common, and how many of the pairs come
    before the later turns that only one side has."""
    shared = min(shared, len(left), len(right))
    first, second = _ends_of_turn(left, right, shared)
    turn = _shift(left[shared:first], right[shared:second], (shared, shared))
    rest = list(_shift(left[first:], right[second:], (first, second)))
    pairs = [*((place, place) for place in range(shared)), *turn, *rest]
    return pairs, len(pairs) - _later(left, right, rest)


def _ends_of_turn(left: Sequence[Step], right: Sequence[Step], shared: int) -> tuple[int, int]:
    """Return where the turn of the fork ends on each side.

    A message after the fork starts this turn only if both sides have one; otherwise one of them has
    ended the turn at the fork.
    """
    sides = (left, right)
    both_say = all(len(side) > shared and side[shared].kind == "user" for side in sides)
    first, second = (_next_message(side, shared + both_say) for side in sides)
    return first, second


def _next_message(side: Sequence[Step], start: int) -> int:
    places = range(start, len(side))
    return next((place for place in places if side[place].kind == "user"), len(side))


def _shift(left: Sequence[Step], right: Sequence[Step], offset: tuple[int, int]) -> Iterator[Pair]:
    for i, j in aligned(left, right, likeness):
        yield (
            None if i is None else i + offset[0],
            None if j is None else j + offset[1],
        )


def _later(left: Sequence[Step], right: Sequence[Step], pairs: Sequence[Pair]) -> int:
    """Return how many of the last pairs are whole turns that only one side has."""
    side = 0 if pairs and pairs[-1][1] is None else 1
    count = 0
    for place in range(len(pairs) - 1, -1, -1):
        if pairs[place][1 - side] is not None:
            return count
        if (i := pairs[place][side]) is not None and (left, right)[side][i].kind == "user":
            count = len(pairs) - place
    return count
