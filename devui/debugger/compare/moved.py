"""Partners that are not beside each other: parallel branches commit in any order.

What stands alone on both sides is looked at once more, within its branch, where the order is that
of one agent's work. What is the same and in the same turn, and yet elsewhere, has moved, too: there
the order itself is what differs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from devui.debugger.compare.alignment import Pair, aligned
from devui.debugger.compare.steps import Step, likeness

_ONE_SHAPE: Final = 60
"""The least likeness of partners that are apart."""

Stretch: TypeAlias = tuple[int, str, int]
"""The turn, the branch, and how many of the branch that stand beside each other come before."""


@dataclass(frozen=True, slots=True)
class Move:
    """Two that belong together, by their places in the sequences."""

    left: int
    right: int
    by_clock: bool
    """Only the clock has parted them: another branch was faster."""


def moves(left: Sequence[Step], right: Sequence[Step], pairs: Sequence[Pair]) -> list[Move]:
    """Partners among the steps that stand alone."""
    partners: list[Move] = []
    ours, theirs = _lone(left, right, pairs)
    for stretch in ours.keys() & theirs.keys():
        if stretch[1]:
            partners += _in_branch(left, right, ours[stretch], theirs[stretch])
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
) -> tuple[dict[Stretch, list[int]], dict[Stretch, list[int]]]:
    """What stands alone on each side, by stretch."""
    ours: defaultdict[Stretch, list[int]] = defaultdict(list)
    theirs: defaultdict[Stretch, list[int]] = defaultdict(list)
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


def _turns(lone: dict[Stretch, list[int]]) -> Iterator[tuple[int, int]]:
    """Each place with its turn."""
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
