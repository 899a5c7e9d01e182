"""The rows of a comparison: what stands beside what, what differs there, and where it began to.

Parallel branches commit in any order. So events are aligned within their branch, too, and one whose
partner stands elsewhere only because another branch was faster has moved, which is no difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from devui.debugger.compare.alignment import aligned
from devui.debugger.compare.moved import Move, moves
from devui.debugger.compare.steps import Aspect, Step, differing, likeness

RowKind: TypeAlias = Literal["same", "changed", "left", "right", "moved"]
"""`left` and `right`: it stands alone there. `moved`: its partner is in another row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row. Numbers are those of the events in their sessions."""

    kind: RowKind
    left: int | None
    right: int | None
    aspects: tuple[Aspect, ...] = ()
    """In what the two differ."""
    other_step: bool = False
    """They do not even call the same tools, or are of different kinds."""
    elsewhere: int | None = None
    """Of one that moved: its partner on the other side."""
    differs: bool = False
    """It counts as a difference."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sequences of steps beside each other."""

    rows: tuple[Row, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing counts as a difference."""
        return self.first is None

    @property
    def first(self) -> Row | None:
        """Where the two begin to differ."""
        return next((row for row in self.rows if row.differs), None)

    def count(self, kind: RowKind) -> int:
        """How many rows of a kind there are."""
        return sum(row.kind == kind for row in self.rows)

    @property
    def differences(self) -> int:
        """How many rows differ; two that moved and differ count as one."""
        twice = sum(row.differs and row.kind == "moved" for row in self.rows) // 2
        return sum(row.differs for row in self.rows) - twice


def compare(left: Sequence[Step], right: Sequence[Step]) -> Comparison:
    """Align two sequences of steps; the other way round it gives the same, mirrored."""
    pairs = list(aligned(left, right, likeness))
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
    return Comparison(tuple(rows))


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
    return replace(row, kind="moved", aspects=aspects, elsewhere=other, differs=differs)
