"""The rows of a comparison: which events match, and how matching events differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from devui.debugger.compare.changes import Section
from devui.debugger.compare.comparison import Comparison, Row
from devui.debugger.compare.moments import MomentDiff, Prompts
from devui.debugger.compare.prompts import OtherPrompt
from devui.debugger.compare.sides import Side
from devui.debugger.compare.steps import Aspect
from devui.debugger.events.nodes import name_of
from devui.debugger.history.blame import ABSENT, Difference, MaybeJson
from devui.debugger.history.paths import path_text
from devui.debugger.history.state_diff import StateChange
from devui.store.rows import EventRow
from devui.store.runs.work_time import duration_of
from devui.store.state import prefixed
from devui.web.basic_parts import JsonTree
from devui.web.links import SideNames, compare_url, pair_url, session_url, stretch_url
from devui.web.panels.compare.parts import (
    CompareCell,
    ComparedText,
    ComparedValue,
    CompareItem,
    ComparePair,
    ComparePairs,
    CompareTable,
    FoldedRows,
    PairDiff,
    PairSection,
    Verdict,
)
from devui.web.panels.request.parts import DiffBlock, PromptDiff
from devui.web.panels.request.prompt_diff import around, prompt_diff
from devui.web.panels.timeline.kinds import CODE, WORDS, shape
from devui.web.panels.timeline.rows import row_text
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural, seconds
from devui.web.text.jsontree import json_tree
from devui.web.text.worddiff import word_diff

FACT_LABELS: Final[dict[Aspect, str]] = {
    "text": "text",
    "calls": "arguments",
    "results": "result",
    "state": "state",
    "artifacts": "files",
    "actions": "actions",
    "error": "error",
    "other": "other fields",
}
"""The aspects of an event, as the page names them."""
_TITLES: Final[dict[Aspect, str]] = {
    "text": "Text",
    "calls": "Call to {name}",
    "results": "Result of {name}",
    "state": "State changes",
    "artifacts": "Files saved",
    "actions": "Actions",
    "error": "Outcome",
    "other": "Other fields",
}
_MOST: Final = 60
"""How many differences of a section are shown."""
_LONG: Final = 60
"""Texts with more characters than this are compared word by word."""
NOUNS: Final = {
    "model": "the model",
    "system": "the system instruction",
    "tools": "the tools",
    "config": "the settings",
    "messages": "the messages",
}
"""The parts of a prompt, as the page names them."""


def pair_diff(diff: MomentDiff) -> PairDiff:
    """Return every aspect in which the events differ, then the state after them, then the
    prompts."""
    sections = [_section(section) for section in diff.sections]
    if diff.state:
        sections.append(_state(diff.state))
    prompts = diff.prompts if diff.prompts and diff.prompts.aspects else None
    return PairDiff(
        tuple(sections), " ".join(_notes(diff)), _prompts_diff(prompts) if prompts else None
    )


def _prompts_diff(prompts: Prompts) -> PromptDiff:
    """Return the differences of the prompts, without cache marks, since two runs share no cache."""
    diff = prompt_diff(prompts.left, prompts.before, prompts.after)
    return replace(diff, blocks=_without_marks(diff.blocks), tools=_without_marks(diff.tools))


def _without_marks(blocks: Iterable[DiffBlock]) -> tuple[DiffBlock, ...]:
    return tuple(replace(block, breaks_cache=False) for block in blocks)


def _notes(diff: MomentDiff) -> Iterator[str]:
    if diff.left is None or diff.right is None:
        side = "left" if diff.left else "right"
        yield f"Only the {side} side has this event."
        return
    if not diff.sections:
        yield "The events are the same."
    if not diff.state:
        yield "The state afterwards is the same."
    if diff.prompts:
        yield _of_prompts(diff.prompts)


def _of_prompts(prompts: Prompts) -> str:
    if not prompts.aspects:
        return "The model requests are the same."
    nouns = [NOUNS[name] for name in prompts.aspects]
    subject = nouns[0] if len(nouns) == 1 else f"{', '.join(nouns[:-1])} and {nouns[-1]}"
    return f"In the model requests, {subject} {'differ' if _several(nouns) else 'differs'}."


def _several(nouns: Sequence[str]) -> bool:
    return len(nouns) > 1 or nouns[0].endswith("s")


def _section(section: Section) -> PairSection:
    return PairSection(
        title=visible(_TITLES[section.aspect].format(name=section.name or "a tool")),
        values=tuple(_member(each, section.aspect) for each in section.differences[:_MOST]),
        more=_more(len(section.differences)),
    )


def _member(each: Difference, aspect: Aspect) -> ComparedValue:
    """Return one difference; for state and artifacts, labelled with the key or name."""
    if aspect in {"state", "artifacts"} and each.path:
        name, *rest = each.path
        return _value(replace(each, path=tuple(rest)), str(name))
    return _value(each, "")


def _state(changes: Sequence[StateChange]) -> PairSection:
    """Return how the right side's state differs from the left side's."""
    lines = [
        (prefixed(change.scope, change.key), each)
        for change in changes
        for each in change.differences
    ]
    return PairSection(
        title="State afterwards",
        values=tuple(_value(each, key) for key, each in lines[:_MOST]),
        more=_more(len(lines)),
    )


def _more(count: int) -> str:
    return f"{plural(count - _MOST, 'more difference')}" if count > _MOST else ""


def _value(each: Difference, key: str) -> ComparedValue:
    path = path_text(each.path)
    place = key + (path if path.startswith("[") or not path or not key else f".{path}")
    old, new = each.old, each.new
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONG:
        return ComparedValue(visible(place), None, None, _sided_text(old, new))
    if not place and (isinstance(old, str) or isinstance(new, str)):
        texts = [each if isinstance(each, str) else "" for each in (old, new)]
        return ComparedValue("", None, None, _sided_text(*texts))
    return ComparedValue(visible(place), _tree(old), _tree(new))


def _tree(value: MaybeJson) -> JsonTree | None:
    return None if value is ABSENT else json_tree(value, open_levels=1)


def _sided_text(old: str, new: str) -> ComparedText:
    pieces = tuple(around(word_diff(old, new)))
    return ComparedText(
        left=tuple(piece for piece in pieces if piece[0] != "added"),
        right=tuple(piece for piece in pieces if piece[0] != "removed"),
    )


SIZE: Final = 400
"""How many rows are on a page; a folded stretch counts as one."""
_AROUND: Final = 1
"""How many rows before and after a difference stay unfolded."""
_LEAST: Final = 3
"""The fewest rows that are folded."""


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """What the reader wants to see in a comparison."""

    start: int = 0
    """The first row of the page, counted from 0; a folded stretch counts as one."""
    unfolded: bool = False
    open_row: tuple[int | None, int | None] | None = None
    """The row whose differences are shown, by the numbers of its events."""
    at: tuple[int | None, int | None] | None = None
    """The row that the reader was on, by the numbers of its events."""


class Rows:
    """Builds the rows of one comparison."""

    def __init__(self, left: Side, right: Side) -> None:
        self._sides = SideNames(left.name, right.name)
        self._cells = (_Cells(left), _Cells(right))

    def table(
        self,
        comparison: Comparison,
        query: CompareQuery,
        bodies: Mapping[str, PairDiff],
    ) -> CompareTable:
        """Return the page's rows; `bodies` are the differences that are open at first, by row."""
        items = list(self._items(comparison, folded=not query.unfolded, at=query.at))
        start = min(query.start, max(len(items) - 1, 0))
        here = next((place for place, item in enumerate(items) if item.here), start)
        if not start <= here < start + SIZE:
            start = here // SIZE * SIZE
        page = items[start : start + SIZE]
        after = start + SIZE

        def href(at: int) -> str:
            return compare_url(self._sides, start=at or None, unfolded=query.unfolded)

        return CompareTable(
            items=tuple(
                replace(item, body=bodies.get(item.dom_id))
                if isinstance(item, ComparePair)
                else item
                for item in page
            ),
            before_href=href(max(start - SIZE, 0)) if start else "",
            after_href=href(after) if after < len(items) else "",
        )

    def folded(self, left: int | None, right: int | None, count: int) -> ComparePairs:
        """Return the rows of a folded stretch from these events on: equal ones, or later ones of
        one side."""
        return ComparePairs(
            tuple(
                self._pair(_folded(left and left + i, right and right + i), first=False)
                for i in range(count)
            )
        )

    def _items(
        self, comparison: Comparison, *, folded: bool, at: tuple[int | None, int | None] | None
    ) -> Iterator[CompareItem]:
        first = comparison.first
        for stretch in _groups(comparison.rows, folded=folded):
            here = next((row for row in stretch if (row.left, row.right) == at), None)
            if len(stretch) >= _LEAST or (folded and stretch[0].later):
                yield self._fold(stretch, here)
            else:
                for row in stretch:
                    pair = self._pair(row, first=row is first)
                    yield replace(pair, here=True) if row is here else pair

    def _fold(self, rows: Sequence[Row], here: Row | None) -> FoldedRows:
        begin, end = rows[0], rows[-1]
        if begin.later:
            places = f"on the {begin.kind}, #{begin.number} to #{end.number}"
        else:
            places = f"#{begin.left} to #{end.left}"
            if begin.left != begin.right:
                places += f", right: #{begin.right} to #{end.right}"
        return FoldedRows(
            label=plural(len(rows), "later event" if begin.later else "matching event"),
            places=places,
            href=stretch_url(self._sides, begin.left, begin.right, len(rows)),
            open_href=compare_url(self._sides, unfolded=True) + f"#{row_id(begin)}",
            at=row_id(here or begin).removeprefix("p-"),
            here=here is not None,
        )

    def _pair(self, row: Row, *, first: bool) -> ComparePair:
        first_cells, second_cells = self._cells
        numbers = partners(row)
        words = [FACT_LABELS[aspect] for aspect in row.aspects]
        counterpart = ""
        if row.moved_to:
            counterpart = f"p-{row.moved_to}-" if row.right else f"p--{row.moved_to}"
        return ComparePair(
            kind=row.kind,
            dom_id=row_id(row),
            left=first_cells.cell(row.left),
            right=second_cells.cell(row.right),
            aspects=("different step", *words) if row.other_step else tuple(words),
            first=first,
            differs=row.differs,
            href=pair_url(self._sides, *numbers),
            open_href=compare_url(self._sides, open_row=numbers) + f"#{row_id(row)}",
            counterpart=counterpart,
            counterpart_label=f"#{row.moved_to}" if row.moved_to else "",
            later=row.later,
        )


def _folded(left: int | None, right: int | None) -> Row:
    if left and right:
        return Row("same", left, right)
    return Row("left" if left else "right", left, right, later=True)


def row_id(row: Row) -> str:
    """Return the id of a row on the page."""
    return f"p-{row.left or ''}-{row.right or ''}"


def partners(row: Row) -> tuple[int | None, int | None]:
    """Return the events that a row compares; the match of a moved event is in another row."""
    if row.moved_to is None:
        return row.left, row.right
    return row.left or row.moved_to, row.right or row.moved_to


def verdict(comparison: Comparison, prompts: Sequence[OtherPrompt] = ()) -> Verdict:
    """Return whether the two sides differ and where; `prompts` are the differing parts of
    prompts."""
    first, prompt_note = comparison.first, _prompts(prompts)
    later = _later(comparison.later)
    if first is None:
        return Verdict(True, _equal(comparison), 0, prompts=prompt_note, later=later)
    number = first.left or first.right
    return Verdict(
        equal=False,
        text=plural(comparison.differences, "difference"),
        differences=comparison.differences,
        first=_difference(first),
        first_href=f"#{row_id(first)}",
        first_label=f"#{number}" + ("" if first.left else " on the right"),
        prompts=prompt_note,
        later=later,
    )


def _later(rows: Sequence[Row]) -> str:
    return f"{plural(len(rows), 'later event')} on the {rows[0].kind}" if rows else ""


def _prompts(prompts: Sequence[OtherPrompt]) -> str:
    """Return a note such as `Prompts differ: the system instruction and the settings from #2
    on`."""
    if not prompts:
        return ""
    places: dict[int, list[str]] = {}
    for each in prompts:
        places.setdefault(each.left, []).append(NOUNS[each.piece])
    notes = (f"{' and '.join(nouns)} from #{at} on" for at, nouns in sorted(places.items()))
    return f"Prompts differ: {'; '.join(notes)}"


def _equal(comparison: Comparison) -> str:
    if not comparison.rows:
        return "Both are empty"
    pairs = comparison.count("moved") // 2
    return "No differences" + (
        f"; {plural(pairs, 'event')} from parallel branches in a different order" if pairs else ""
    )


def _difference(row: Row) -> str:
    """Return what differs in a row, in words."""
    if row.kind == "moved":
        return "different order"
    if row.kind != "changed":
        return f"{row.kind} only"
    if row.other_step:
        return "different step"
    words = [FACT_LABELS[aspect] for aspect in row.aspects]
    last = words[-1]
    names = f"{', '.join(words[:-1])} and {last}" if len(words) > 1 else last
    return f"{names} {'differ' if len(words) > 1 or last.endswith('s') else 'differs'}"


def _groups(rows: Sequence[Row], *, folded: bool) -> Iterator[list[Row]]:
    """Yield the rows to fold together, and the others one by one."""
    interesting = [row.kind != "same" and not row.later for row in rows]
    waiting: list[Row] = []
    for place, row in enumerate(rows):
        near = interesting[max(place - _AROUND, 0) : place + _AROUND + 1]
        alone = any(near) and not row.later
        if waiting and (alone or not _follows(row, waiting[-1])):
            yield waiting
            waiting = []
        if folded and not alone:
            waiting.append(row)
        else:
            yield [row]
    if waiting:
        yield waiting


def _follows(row: Row, last: Row) -> bool:
    """Return whether one stretch can contain both rows."""
    return row.later == last.later and (row.later or (last.left or 0) + 1 == row.left)


class _Cells:
    """The cells for the events of one side."""

    def __init__(self, side: Side) -> None:
        self._events = {row.number: row for row in side.events}
        before = {b.number: a for a, b in zip(side.events, side.events[1:], strict=False)}
        self._before: Mapping[int, EventRow] = before

    def cell(self, number: int | None) -> CompareCell | None:
        """Return the cell of the event with this number; None without a number."""
        row = self._events.get(number) if number else None
        if row is None:
            return None
        summary = row.summary
        before = self._before.get(row.number)
        return CompareCell(
            number=row.number,
            href=session_url(row.session, event=row.number),
            kind=summary.kind,
            word=WORDS[summary.kind],
            shape=shape(summary.kind, final=row.final, has_failed=summary.has_failed),
            author=visible(name_of(summary.node) or row.author),
            text=row_text(summary),
            code=summary.kind in CODE,
            elapsed=seconds(duration_of(row, before)),
        )
