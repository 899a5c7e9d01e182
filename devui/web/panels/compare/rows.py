"""The rows of a comparison: which events match, and how a pair of them differs."""

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
from devui.store.runs.work_time import seconds_of_work
from devui.store.state import prefixed
from devui.web.basic_parts import JsonTree
from devui.web.links import Compared, compare_url, pair_url, session_url, stretch_url
from devui.web.panels.compare.parts import (
    CompareCell,
    ComparedValue,
    CompareItem,
    ComparePair,
    ComparePairs,
    CompareStretch,
    CompareTable,
    PairDiff,
    PairSection,
    SidedText,
    Verdict,
)
from devui.web.panels.request.parts import DiffBlock, PromptDiff
from devui.web.panels.request.prompt_diff import around, prompt_diff
from devui.web.panels.timeline.kinds import CODE, WORDS, shape
from devui.web.panels.timeline.rows import row_text
from devui.web.text.formats import plural, seconds
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible
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
"""The aspects of an event, as people call them."""
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
"""Differences of one section."""
_LONG: Final = 60
"""Characters from which on two texts are compared word by word."""
NOUNS: Final = {
    "model": "the model",
    "system": "the system instruction",
    "tools": "the tools",
    "config": "the settings",
    "messages": "the messages",
}
"""The pieces of a prompt, as people call them."""


def pair_diff(diff: MomentDiff) -> PairDiff:
    """Every aspect in which the events differ, then the state after them, then the prompts."""
    sections = [_section(section) for section in diff.sections]
    if diff.state:
        sections.append(_state(diff.state))
    prompts = diff.prompts if diff.prompts and diff.prompts.differing else None
    return PairDiff(
        tuple(sections), " ".join(_notes(diff)), _prompts_diff(prompts) if prompts else None
    )


def _prompts_diff(prompts: Prompts) -> PromptDiff:
    """The difference of the prompts; of no cache, since none is shared by two runs."""
    diff = prompt_diff(prompts.left, prompts.before, prompts.after)
    return replace(diff, blocks=_without_marks(diff.blocks), tools=_without_marks(diff.tools))


def _without_marks(blocks: Iterable[DiffBlock]) -> tuple[DiffBlock, ...]:
    return tuple(replace(block, breaks=False) for block in blocks)


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
    if not prompts.differing:
        return "The model requests are the same."
    nouns = [NOUNS[name] for name in prompts.differing]
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
    """A difference; of a state's or a file's, with its key or name as it is written elsewhere."""
    if aspect in {"state", "artifacts"} and each.path:
        name, *rest = each.path
        return _value(replace(each, path=tuple(rest)), str(name))
    return _value(each, "")


def _state(changes: Sequence[StateChange]) -> PairSection:
    """The state of the right side against that of the left."""
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


def _sided_text(old: str, new: str) -> SidedText:
    pieces = tuple(around(word_diff(old, new)))
    return SidedText(
        left=tuple(piece for piece in pieces if piece[0] != "added"),
        right=tuple(piece for piece in pieces if piece[0] != "removed"),
    )


SIZE: Final = 400
"""Rows of a page; what is folded counts as one."""
_AROUND: Final = 1
"""Rows that stay unfolded on each side of a difference."""
_LEAST: Final = 3
"""How many rows are worth folding."""


@dataclass(frozen=True, slots=True)
class CompareQuery:
    """What the reader wants to see of a comparison."""

    start: int = 0
    """The first row of the page, from 0, what is folded counting as one."""
    unfolded: bool = False
    open_row: tuple[int | None, int | None] | None = None
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
        query: CompareQuery,
        bodies: Mapping[str, PairDiff],
    ) -> CompareTable:
        """The page's rows; `bodies` are the differences that it begins with, by row."""
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

    def same(self, left: int, right: int, count: int) -> ComparePairs:
        """The rows of a stretch that is the same from these events on."""
        rows = (Row("same", left + i, right + i) for i in range(count))
        return ComparePairs(tuple(self._pair(row, first=False) for row in rows))

    def _items(
        self, comparison: Comparison, *, folded: bool, at: tuple[int | None, int | None] | None
    ) -> Iterator[CompareItem]:
        first = comparison.first
        for stretch in _stretches(comparison.rows, folded=folded):
            here = next((row for row in stretch if (row.left, row.right) == at), None)
            if len(stretch) >= _LEAST:
                yield self._stretch(stretch, here)
            else:
                for row in stretch:
                    pair = self._pair(row, first=row is first)
                    yield replace(pair, here=True) if row is here else pair

    def _stretch(self, rows: Sequence[Row], here: Row | None) -> CompareStretch:
        begin, end = rows[0], rows[-1]
        left, right = begin.left or 0, begin.right or 0
        places = f"#{left} to #{end.left}"
        if left != right:
            places += f", right: #{right} to #{end.right}"
        return CompareStretch(
            label=f"{plural(len(rows), 'matching event')}",
            places=places,
            href=stretch_url(self._sides, left, right, len(rows)),
            open_href=compare_url(self._sides, unfolded=True) + f"#{row_id(begin)}",
            at=row_id(here or begin).removeprefix("p-"),
            here=here is not None,
        )

    def _pair(self, row: Row, *, first: bool) -> ComparePair:
        first_cells, second_cells = self._cells
        numbers = partners(row)
        words = [FACT_LABELS[aspect] for aspect in row.aspects]
        elsewhere = ""
        if row.elsewhere:
            elsewhere = f"p-{row.elsewhere}-" if row.right else f"p--{row.elsewhere}"
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


def verdict(comparison: Comparison, prompts: Sequence[OtherPrompt] = ()) -> Verdict:
    """Whether the two differ, and where it begins; `prompts`: what of those is another one."""
    first, prompt_note = comparison.first, _prompts(prompts)
    if first is None:
        return Verdict(True, _equal(comparison), 0, prompts=prompt_note)
    number = first.left or first.right
    return Verdict(
        equal=False,
        text=plural(comparison.differences, "difference"),
        differences=comparison.differences,
        first=_difference(first),
        first_href=f"#{row_id(first)}",
        first_label=f"#{number}" + ("" if first.left else " on the right"),
        prompts=prompt_note,
    )


def _prompts(prompts: Sequence[OtherPrompt]) -> str:
    """`Prompts differ: the system instruction and the settings from #2 on`."""
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
    """What differs in a row, in words."""
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

    def cell(self, number: int | None) -> CompareCell | None:
        """The event of this number; None for none."""
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
            shape=shape(summary.kind, final=row.final),
            author=visible(name_of(summary.node) or row.author),
            text=row_text(summary),
            code=summary.kind in CODE,
            elapsed=seconds(seconds_of_work(row, before)),
        )
