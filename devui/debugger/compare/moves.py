"""Finds events that moved: partners in different rows, as parallel branches commit in any order.

Events that stand alone are aligned once more within their branch, whose order is that of one
agent's work. Identical events of the same turn in different places have moved, too: for them, the
order itself is the difference.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from devui.debugger.compare.alignment import Pair, aligned
from devui.debugger.compare.steps import Step, likeness

_ONE_SHAPE: Final = 60
"""The smallest likeness of partners that moved."""

_Segment: TypeAlias = tuple[int, str, int]
"""The turn, the branch, and how many pairs of this branch come before."""


@dataclass(frozen=True, slots=True)
class Move:
    """Two corresponding steps, by their indexes in the sequences."""

    left: int
    right: int
    by_clock: bool
    """Whether only timing separates them: another branch was faster."""


def moves(left: Sequence[Step], right: Sequence[Step], pairs: Sequence[Pair]) -> list[Move]:
    """Return the partners among the steps that stand alone."""
    partners: list[Move] = []
    ours, theirs = _lone(left, right, pairs)
    for segment in ours.keys() & theirs.keys():
        if segment[1]:
            partners += _in_branch(left, right, ours[segment], theirs[segment])
    lefts, rights = {move.left for move in partners}, {move.right for move in partners}
    waiting: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for place, turn in sorted(_turns(theirs), reverse=True):
        if place not in rights:
            waiting[turn, right[place].sign].append(place)
    for place, turn in sorted(_turns(ours)):
        if place not in lefts and (candidates := waiting.get((turn, left[place].sign))):
            partners.append(Move(place, candidates.pop(), by_clock=False))
    return partners


def _lone(
    left: Sequence[Step], right: Sequence[Step], pairs: Sequence[Pair]
) -> tuple[dict[_Segment, list[int]], dict[_Segment, list[int]]]:
    """Return the lone steps of each side, by segment."""
    ours: defaultdict[_Segment, list[int]] = defaultdict(list)
    theirs: defaultdict[_Segment, list[int]] = defaultdict(list)
    counts: defaultdict[str, int] = defaultdict(int)
    turn = 0
    for i, j in pairs:
        if i is not None and j is not None:
            turn += left[i].kind == "user"
            counts[left[i].branch] += 1
        elif i is not None:
            ours[turn, left[i].branch, counts[left[i].branch]].append(i)
        elif j is not None:
            theirs[turn, right[j].branch, counts[right[j].branch]].append(j)
    return ours, theirs


def _turns(lone: dict[_Segment, list[int]]) -> Iterator[tuple[int, int]]:
    """Yield each index with its turn."""
    for (turn, _, _), places in lone.items():
        yield from ((place, turn) for place in places)


def _in_branch(
    left: Sequence[Step], right: Sequence[Step], ours: list[int], theirs: list[int]
) -> Iterator[Move]:
    mine, others = [left[i] for i in ours], [right[j] for j in theirs]
    for a, b in aligned(mine, others, _of_one_shape):
        if a is not None and b is not None:
            yield Move(ours[a], theirs[b], by_clock=True)


def _of_one_shape(first: Step, second: Step) -> int:
    score = likeness(first, second)
    return score if score >= _ONE_SHAPE else 0
