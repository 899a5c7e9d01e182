"""A comparison as rows: what is the same is folded, what differs stands beside each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devui.debugger.compare.comparison import Comparison, Row
from devui.debugger.compare.prompts import OtherPrompt
from devui.debugger.compare.sides import Side
from devui.debugger.nodes import name_of
from devui.debugger.summary import Summary
from devui.debugger.worktime import seconds_of_work
from devui.store.rows import EventRow
from devui.web.links import Compared, compare_url, pair_url, session_url, stretch_url
from devui.web.parts import every as parts
from devui.web.presenters.kinds import CODE, WORDS, shape
from devui.web.presenters.pairdiff import NOUNS
from devui.web.presenters.pairdiff import WORDS as ASPECTS
from devui.web.text.figures import plural, seconds
from devui.web.text.visible import visible

SIZE: Final = 400
"""Rows of a page; what is folded counts as one."""
_AROUND: Final = 1
"""Rows that stay unfolded on each side of a difference."""
_LEAST: Final = 3
"""How many rows are worth folding."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the reader wants to see of a comparison."""

    start: int = 0
    """The first row of the page, from 0, what is folded counting as one."""
    unfolded: bool = False
    opened: tuple[int | None, int | None] | None = None
    """The row whose difference is to be shown, by the numbers of its events."""
    at: tuple[int | None, int | None] | None = None
    """The row that the reader stood on, by what it shows of each side."""


class Rows:
    """Makes the rows of one comparison."""

    def __init__(self, left: Side, right: Side) -> None:
        self._sides = Compared(left.name, right.name)
        self._cells = (_Cells(left), _Cells(right))

    def table(
        self,
        comparison: Comparison,
        asked: Asked,
        bodies: Mapping[str, parts.PairDiff],
    ) -> parts.CompareTable:
        """The page's rows; `bodies` are the differences that it begins with, by row."""
        items = list(self._items(comparison, folded=not asked.unfolded, at=asked.at))
        start = min(asked.start, max(len(items) - 1, 0))
        here = next((place for place, item in enumerate(items) if item.here), start)
        if not start <= here < start + SIZE:
            start = here // SIZE * SIZE
        shown = items[start : start + SIZE]
        after = start + SIZE

        def href(at: int) -> str:
            return compare_url(self._sides, start=at or None, unfolded=asked.unfolded)

        return parts.CompareTable(
            items=tuple(
                replace(item, body=bodies.get(item.dom_id))
                if isinstance(item, parts.ComparePair)
                else item
                for item in shown
            ),
            before_href=href(max(start - SIZE, 0)) if start else "",
            after_href=href(after) if after < len(items) else "",
        )

    def same(self, left: int, right: int, count: int) -> parts.ComparePairs:
        """The rows of a stretch that is the same from these events on."""
        rows = (Row("same", left + i, right + i) for i in range(count))
        return parts.ComparePairs(tuple(self._pair(row, first=False) for row in rows))

    def _items(
        self, comparison: Comparison, *, folded: bool, at: tuple[int | None, int | None] | None
    ) -> Iterator[parts.CompareItem]:
        first = comparison.first
        for stretch in _stretches(comparison.rows, folded=folded):
            here = next((row for row in stretch if (row.left, row.right) == at), None)
            if len(stretch) >= _LEAST:
                yield self._stretch(stretch, here)
            else:
                for row in stretch:
                    pair = self._pair(row, first=row is first)
                    yield replace(pair, here=True) if row is here else pair

    def _stretch(self, rows: Sequence[Row], here: Row | None) -> parts.CompareStretch:
        begin, end = rows[0], rows[-1]
        left, right = begin.left or 0, begin.right or 0
        places = f"#{left} to #{end.left}"
        if left != right:
            places += f", there #{right} to #{end.right}"
        return parts.CompareStretch(
            label=f"{plural(len(rows), 'event')} the same",
            places=places,
            href=stretch_url(self._sides, left, right, len(rows)),
            open_href=compare_url(self._sides, unfolded=True) + f"#{row_id(begin)}",
            at=row_id(here or begin).removeprefix("p-"),
            here=here is not None,
        )

    def _pair(self, row: Row, *, first: bool) -> parts.ComparePair:
        first_cells, second_cells = self._cells
        numbers = partners(row)
        words = [ASPECTS[aspect] for aspect in row.aspects]
        elsewhere = ""
        if row.elsewhere:
            elsewhere = f"p-{row.elsewhere}-" if row.right else f"p--{row.elsewhere}"
        return parts.ComparePair(
            kind=row.kind,
            dom_id=row_id(row),
            left=first_cells.cell(row.left),
            right=second_cells.cell(row.right),
            aspects=("another step", *words) if row.other_step else tuple(words),
            first=first,
            differs=row.differs,
            href=pair_url(self._sides, *numbers),
            open_href=compare_url(self._sides, opened=numbers) + f"#{row_id(row)}",
            elsewhere=elsewhere,
            elsewhere_label=f"#{row.elsewhere}" if row.elsewhere else "",
        )


def row_id(row: Row) -> str:
    """The id of a row on the page."""
    return f"p-{row.left or ''}-{row.right or ''}"


def partners(row: Row) -> tuple[int | None, int | None]:
    """The events that a row's difference is of; of one that moved, the partner is elsewhere."""
    if row.elsewhere is None:
        return row.left, row.right
    return row.left or row.elsewhere, row.right or row.elsewhere


def verdict(comparison: Comparison, prompts: Sequence[OtherPrompt] = ()) -> parts.Verdict:
    """Whether the two differ, and where it begins; `prompts`: what of those is another one."""
    first, told = comparison.first, _prompts(prompts)
    if first is None:
        return parts.Verdict(True, _equal(comparison), 0, prompts=told)
    number = first.left or first.right
    return parts.Verdict(
        equal=False,
        text=plural(comparison.differences, "difference"),
        differences=comparison.differences,
        first=_told(first),
        first_href=f"#{row_id(first)}",
        first_label=f"#{number}" + ("" if first.left else " on the right"),
        prompts=told,
    )


def _prompts(prompts: Sequence[OtherPrompt]) -> str:
    """`Other prompts: the system instruction and the settings from #2 on`."""
    if not prompts:
        return ""
    places: dict[int, list[str]] = {}
    for each in prompts:
        places.setdefault(each.left, []).append(NOUNS[each.piece])
    told = (f"{' and '.join(nouns)} from #{at} on" for at, nouns in sorted(places.items()))
    return f"Other prompts: {'; '.join(told)}"


def _equal(comparison: Comparison) -> str:
    if not comparison.rows:
        return "Both are empty: there is nothing to compare"
    moved = comparison.count("moved") // 2
    return "No difference" + (
        f"; {plural(moved, 'event')} of parallel branches came in another order" if moved else ""
    )


def _told(row: Row) -> str:
    """What differs in a row, in words."""
    if row.kind == "moved":
        return "it comes in another order"
    if row.kind != "changed":
        return f"it is on the {row.kind} alone"
    if row.other_step:
        return "another step"
    words = [ASPECTS[aspect] for aspect in row.aspects]
    last = words[-1]
    told = f"{', '.join(words[:-1])} and {last}" if len(words) > 1 else last
    return f"{told} {'differ' if len(words) > 1 or last.endswith('s') else 'differs'}"


def _stretches(rows: Sequence[Row], *, folded: bool) -> Iterator[list[Row]]:
    """Rows to fold together; others one by one."""
    interesting = [row.kind != "same" for row in rows]
    waiting: list[Row] = []
    for place, row in enumerate(rows):
        near = interesting[max(place - _AROUND, 0) : place + _AROUND + 1]
        last = waiting[-1] if waiting else None
        goes_on = last is None or (last.left or 0) + 1 == row.left
        if waiting and (any(near) or not goes_on):
            yield waiting
            waiting = []
        if folded and not any(near):
            waiting.append(row)
        else:
            yield [row]
    if waiting:
        yield waiting


class _Cells:
    """The events of one side as cells."""

    def __init__(self, side: Side) -> None:
        self._events = {row.number: row for row in side.events}
        before = {b.number: a for a, b in zip(side.events, side.events[1:], strict=False)}
        self._before: Mapping[int, EventRow] = before

    def cell(self, number: int | None) -> parts.CompareCell | None:
        """The event of this number; None for none."""
        row = self._events.get(number) if number else None
        if row is None:
            return None
        summary = Summary.from_json(row.summary)
        before = self._before.get(row.number)
        return parts.CompareCell(
            number=row.number,
            href=session_url(row.session, event=row.number),
            kind=summary.kind,
            word=WORDS[summary.kind],
            shape=shape(summary.kind, final=row.final),
            author=visible(name_of(summary.node) or row.author),
            text=visible(summary.text),
            code=summary.kind in CODE,
            elapsed=seconds(seconds_of_work(row, before)),
        )
