"""Stored events as rows of the timeline."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from math import log10
from typing import Final, Protocol

from devui.debugger.events.nodes import name_of
from devui.debugger.events.short_lines import short_line
from devui.debugger.timeline import Heading, Invocation, Item
from devui.store.rows import EditRow, NoteRow, RunRow
from devui.store.rows import EventRow as StoredEvent
from devui.store.runs.work_time import seconds_of_work
from devui.store.summaries import WAITS_FOR_CONFIRMATION, WAITS_FOR_SIGN_IN, Summary
from devui.web.links import fork_here_url, session_url
from devui.web.panels.breakpoints.parts import GutterMark
from devui.web.panels.hold import interventions
from devui.web.panels.notes.parts import note_mark
from devui.web.panels.timeline.kinds import CODE, PROSE, WORDS, shape
from devui.web.panels.timeline.parts import (
    DroppedRow,
    EventRow,
    Flag,
    InvocationHeader,
    TimelineItem,
)
from devui.web.panels.timeline.runs import run_end
from devui.web.text.formats import (
    compact,
    dollars,
    elapsed,
    held_for,
    moment,
    money,
    plural,
    seconds,
    size,
)
from devui.web.text.jsontree import json_text
from devui.web.text.visible import visible
from devui.web.text.without_markdown import without_markdown
from devui.wire.events import USER

BAR: Final = 12
"""Steps of the bar of a duration: a quarter of it for each factor of ten, up to 100 seconds."""
_SHORTEST: Final = 0.01
"""Seconds whose bar has no length."""
LARGE: Final = 32 * 1024
"""Bytes of an event from which on its row says how large it is."""
LANES: Final = 6
"""Lanes with a place and a colour; further branches share the last one."""


class Gutter(Protocol):
    """What is known beside the events: breakpoints, and prices of answers."""

    def cost(self, summary: Summary) -> float | None:
        """Dollars for the model's answer; None if it is unknown, or there is none."""

    def mark(self, row: StoredEvent, summary: Summary) -> GutterMark:
        """The mark at the left edge of a row."""


def group_id(invocation_id: str, part: int = 0) -> str:
    """The DOM id of an invocation; ids of invocations may hold any character.

    `part`: the first event of a later part of it (`figures.later_parts`), which has its own.
    """
    name = invocation_id.encode("utf-8", "replace")
    group = f"i-{sha1(name, usedforsecurity=False).hexdigest()[:12]}"
    return f"{group}-{part}" if part else group


def row_text(summary: Summary) -> str:
    """What a row says of an event: its summary, without marks of Markdown in what was written."""
    is_prose = summary.kind in PROSE
    return visible(without_markdown(summary.text) if is_prose else summary.text)


def event_row(
    row: StoredEvent,
    previous: StoredEvent | None,
    *,
    gutter: Gutter,
    is_selected: bool = False,
    note: NoteRow | None = None,
    only: str = "",
    is_answer: bool = False,
    part: int = 0,
) -> EventRow:
    """One row; `previous` is the event before, if there is one, `only` a filter that links keep.

    `is_answer`: it is the last answer of its invocation; `part` as for `group_id`.
    """
    summary, duration = row.summary, seconds_of_work(row, previous)
    cost = gutter.cost(summary)
    return EventRow(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        shape=shape(summary.kind, final=row.final),
        author=visible(name_of(summary.node) or row.author),
        node=visible(summary.node),
        text=visible(short_line(summary)) if summary.kind in CODE else row_text(summary),
        lead=_lead(summary),
        aside=summary.kind in {"checkpoint", "state"} and row.author != USER,
        code=summary.kind in CODE,
        flags=tuple(_flags(row, summary, is_answer=is_answer)),
        elapsed=seconds(duration),
        seconds=round(duration or 0.0, 6),
        bar=bar(duration),
        held_note=held_for(row.paused),
        tokens=compact(summary.tokens),
        token_count=summary.tokens,
        cost=dollars(cost),
        dollars=cost,
        mark=gutter.mark(row, summary),
        depth=_depth(row, summary),
        lane=min(summary.lane, LANES),
        path=visible(summary.path),
        branch=visible(row.branch or ""),
        group=group_id(row.invocation_id, part),
        href=session_url(row.session, event=row.number, only=only),
        is_selected=is_selected,
        fork_href=fork_here_url(row.session, row.number),
        note=note_mark(note),
    )


def bar(duration: float | None) -> int:
    """How long the bar of a duration is, in steps up to BAR.

    The scale is the same for every row, so a row that arrives changes no other, and one can be
    compared with those of another run.
    """
    if duration is None or duration <= _SHORTEST:
        return 0
    return min(round(log10(duration / _SHORTEST) * BAR / 4), BAR)


def invocation_header(heading: Heading, invocation: Invocation, part: int = 0) -> InvocationHeader:
    """The header above the events of one invocation, or of a later part of it."""
    message, tokens, cost = invocation.message, invocation.tokens, invocation.cost
    return InvocationHeader(
        group=group_id(heading.row.invocation_id, part),
        text=(row_text(message.summary) if message else "") or _untold(heading.row),
        events=plural(invocation.events, "event"),
        elapsed=elapsed(invocation.seconds),
        held_note=held_for(invocation.held),
        tokens="" if tokens is None else f"{compact(tokens)} tok",
        cost="" if cost is None else money(cost, more=invocation.is_unpriced),
        continued=heading.continued,
        is_later=part > 0,
        failures=f"{invocation.failures:,} failed" if invocation.failures else "",
    )


def _untold(row: StoredEvent) -> str:
    """What a header says of an invocation without a message, by its first row."""
    return "State edited" if row.kind == "state" and row.author == USER else "no message"


@dataclass(frozen=True, slots=True)
class Look:
    """How a reader sees the items of a timeline."""

    gutter: Gutter
    invocations: Mapping[int, Invocation]
    """By the numbers of the events of their headings."""
    selection: int | None = None
    notes: Mapping[int, NoteRow] = field(default_factory=dict)
    """What people say of events, by their numbers."""
    only: str = ""
    """The filter in force; links keep it."""
    answers: Container[int] = frozenset()
    """The number of the last answer of each invocation."""
    parts: Mapping[int, int] = field(default_factory=dict)
    """By the numbers of events, the later part of their invocation that they are in."""
    matches: Container[int] | None = None
    """What the filter lets through; other rows say that they aren't."""

    def items(self, items: Iterable[Item]) -> tuple[TimelineItem, ...]:
        """The items as rows and headers."""
        return tuple(row for item in items if (row := self._item(item)))

    def _item(self, item: Item) -> TimelineItem | None:
        match item:
            case Heading():
                number = item.row.number
                return invocation_header(item, self.invocations[number], self.parts.get(number, 0))
            case EditRow():
                return dropped_row(item)
            case RunRow():
                return run_end(item)
        row = event_row(
            item.row,
            item.previous,
            gutter=self.gutter,
            is_selected=item.row.number == self.selection,
            note=self.notes.get(item.row.number),
            only=self.only,
            is_answer=item.row.number in self.answers,
            part=self.parts.get(item.row.number, 0),
        )
        if item.follows and item.previous and _answers(item.row.summary, item.previous.summary):
            row = replace(row, answers=True)
        if self.matches is None or row.number in self.matches:
            return row
        flag = Flag("astray", "not in the filter", "shown because it is selected")
        return replace(row, flags=(flag, *row.flags))


def dropped_row(row: EditRow) -> DroppedRow:
    """The row of an event that a person let fall."""
    edit = row.edit
    return DroppedRow(
        edit=row.id,
        text=visible(f"{edit.actor} dropped an event of {edit.agent}"),
        moment=moment(edit.at),
        original=json_text(json.loads(edit.before)),
    )


def _answers(summary: Summary, before: Summary) -> bool:
    """Whether an event has nothing but results of the calls of the one before it."""
    call_ids = {call.id for call in before.calls if call.id}
    ids = [response.id for response in summary.responses]
    return bool(ids) and call_ids.issuperset(ids)


def _lead(summary: Summary) -> str:
    """The name of the tool that a result begins with; "" for several results."""
    responses = summary.responses
    lead = f"{responses[0].name} → " if summary.kind == "result" and len(responses) == 1 else ""
    return lead if summary.text.startswith(lead) and lead == visible(lead) else ""


_STAND_INS: Final = frozenset({WAITS_FOR_CONFIRMATION, WAITS_FOR_SIGN_IN})


def _flags(row: StoredEvent, summary: Summary, *, is_answer: bool) -> Iterable[Flag]:
    if summary.edited:
        yield Flag("edited", interventions.word(summary), interventions.hint(summary), "pencil")
    yield from _failures(summary)
    yield from _notices(summary)
    if summary.state_count:
        keys = ", ".join(summary.state_keys)
        more = summary.state_count - len(summary.state_keys)
        hint = f"changes {keys}" + (f" and {more} more" if more else "")
        yield Flag("delta", f"Δ {summary.state_count}", visible(hint))
    if summary.artifacts:
        count = len(summary.artifacts)
        yield Flag("artifact", plural(count, "artifact"), visible(", ".join(summary.artifacts)))
    yield from _amounts(row)
    if summary.partial:
        yield Flag("partial", "partial")
    if summary.long_running:
        yield Flag("long", "long-running", "the tool keeps running after the run")
    if summary.cut and summary.kind != "error":
        yield Flag("cut", visible(summary.cut), "the model stopped early", "warning")
    stands_in = any(response.preview in _STAND_INS for response in summary.responses)
    if is_answer and summary.kind != "error" and not stands_in:
        yield Flag("final", "final", "the last answer of this invocation")


def _amounts(row: StoredEvent) -> Iterable[Flag]:
    if row.size >= LARGE:
        yield Flag("size", size(row.size), "the size of its JSON")
    if row.chunks:
        yield Flag("chunks", plural(row.chunks, "chunk"), "arrived in partial events")


def _failures(summary: Summary) -> Iterable[Flag]:
    """That a tool returned an error, and that a call failed before."""
    if failed := [response.name for response in summary.responses if response.failed]:
        yield Flag("error", "failed", visible(f"{', '.join(failed)} returned an error"))
    if attempt := max([summary.attempt, *(each.attempt for each in summary.responses)]):
        yield Flag("attempt", f"try {attempt}", "the call was made again after it failed")


def _notices(summary: Summary) -> Iterable[Flag]:
    """What the debugger noticed of the state, a flag for each kind."""
    dirty = [f"{note.key}, written by {note.by}" for note in summary.notes if note.kind == "dirty"]
    silent = [note.key for note in summary.notes if note.kind == "silent"]
    overlaps = [note for note in summary.notes if note.kind == "overlap"]
    if dirty:
        hint = f"read before its commit: {'; '.join(dirty)}"
        yield Flag("dirty", "dirty read", visible(hint), "warning")
    if silent:
        hint = f"state changed without a delta: {', '.join(silent)}; assign the key to save it"
        yield Flag("silent", "no delta", visible(hint), "warning")
    if overlaps:
        texts = [f"{note.key} was also written by {note.by}" for note in overlaps]
        yield Flag("overlap", "last writer wins", visible("; ".join(texts)), "warning")


def _depth(row: StoredEvent, summary: Summary) -> int:
    """How many agents or nodes are above it; of old events only the branch tells."""
    if summary.path:
        return summary.path.count("/")
    return row.branch.count(".") if row.branch else 0
