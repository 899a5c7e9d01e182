"""The rows of a comparison: which events are paired, how they differ, and where that begins.

Parallel branches commit in any order. So events are also aligned within their branch. If an event's
partner is elsewhere only because another branch was faster, it has moved, which isn't a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from devui.debugger.compare.alignment import Pair, aligned
from devui.debugger.compare.fork_alignment import fork_pairs
from devui.debugger.compare.moves import Move, moves
from devui.debugger.compare.steps import Aspect, Step, differing, likeness

RowKind: TypeAlias = Literal["same", "changed", "left", "right", "moved"]
"""`left` or `right`: it exists only on that side. `moved`: its partner is in another row."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a comparison. Events are given by their numbers in their sessions."""

    kind: RowKind
    left: int | None
    right: int | None
    aspects: tuple[Aspect, ...] = ()
    """The aspects in which the two events differ."""
    other_step: bool = False
    """Whether the two are of different kinds or call different tools."""
    moved_to: int | None = None
    """The partner on the other side of an event that moved."""
    differs: bool = False
    """Whether the row counts as a difference."""
    later: bool = False
    """Whether, after a fork, it belongs to a turn that the other side hasn't reached."""

    @property
    def number(self) -> int | None:
        """The number of the left event, or else of the right one."""
        return self.left or self.right


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two sequences of steps."""

    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing counts as a difference."""
        return self.first is None

    @property
    def first(self) -> Row | None:
        """The first row that differs, if any."""
        return next((row for row in self.rows if row.differs), None)

    def count(self, kind: RowKind) -> int:
        """Return the number of rows of a kind."""
        return sum(row.kind == kind for row in self.rows)

    @property
    def differences(self) -> int:
        """The number of differences; an event that moved and differs has two rows, counted once."""
        twice = sum(row.differs and row.kind == "moved" for row in self.rows) // 2
        return sum(row.differs for row in self.rows) - twice

    @property
    def later(self) -> tuple[Row, ...]:
        """The last rows, if only one side got that far after a fork."""
        return tuple(row for row in self.rows if row.later)


def compare(
    left: Sequence[Step], right: Sequence[Step], *, shared: int | None = None
) -> Comparison:
    """Align two sequences of steps; swapping the sides mirrors the result.

    `shared` is the number of events that a fork and its parent, or two forks, have in common;
    None for all other sides.
    """
    if shared is None:
        pairs = list(aligned(left, right, likeness))
        end = len(pairs)
    else:
        pairs, end = fork_pairs(left, right, shared)
    rows = _rows(left, right, pairs[:end])
    return Comparison((*rows, *(_later(left, right, pair) for pair in pairs[end:])))


def _rows(left: Sequence[Step], right: Sequence[Step], pairs: Sequence[Pair]) -> list[Row]:
    all_moves = moves(left, right, pairs)
    ours, theirs = {move.left: move for move in all_moves}, {move.right: move for move in all_moves}
    rows = []
    for i, j in pairs:
        if i is not None and j is not None:
            rows.append(_beside(left[i], right[j]))
        elif i is not None:
            move = ours.get(i)
            row = Row("left", left[i].number, None, differs=True)
            rows.append(_with_move(row, move, left, right) if move else row)
        elif j is not None:
            move = theirs.get(j)
            row = Row("right", None, right[j].number, differs=True)
            rows.append(_with_move(row, move, left, right) if move else row)
    return rows


def _later(left: Sequence[Step], right: Sequence[Step], pair: Pair) -> Row:
    i, j = pair
    numbers = (None if i is None else left[i].number, None if j is None else right[j].number)
    return Row("right" if i is None else "left", *numbers, later=True)


def _beside(first: Step, second: Step) -> Row:
    row = Row("same", first.number, second.number)
    if first.sign == second.sign:
        return row
    return replace(
        row,
        kind="changed",
        aspects=differing(first, second),
        other_step=first.shape != second.shape,
        differs=True,
    )


def _with_move(row: Row, move: Move, left: Sequence[Step], right: Sequence[Step]) -> Row:
    first, second = left[move.left], right[move.right]
    aspects = differing(first, second)
    differs = bool(aspects) or not move.by_clock
    other = first.number if row.left is None else second.number
    return replace(row, kind="moved", aspects=aspects, moved_to=other, differs=differs)
