"""Stored events as rows of the timeline."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from math import log10
from typing import Final, Protocol

from devui.debugger.events.nodes import name_of
from devui.debugger.events.short_lines import short_line
from devui.debugger.timeline import Ending, Heading, Invocation, Item
from devui.store.rows import EditRow, NoteRow
from devui.store.rows import EventRow as StoredEvent
from devui.store.runs.work_time import duration_of
from devui.store.summaries import Summary
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
from devui.web.text.deceptive_characters import visible
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
from devui.web.text.plain_text import without_markdown
from devui.wire.events import USER

BAR: Final = 12
"""Steps of a duration's bar: a quarter of them for each factor of ten, up to 100 seconds."""
_SHORTEST: Final = 0.01
"""Seconds up to which a bar has no length."""
LARGE: Final = 32 * 1024
"""Bytes of an event at which its row shows the size."""
LANES: Final = 6
"""Lanes with a place and a color; further branches share the last one."""


class Gutter(Protocol):
    """Data that isn't in the events: breakpoints, and prices of answers."""

    def cost(self, summary: Summary) -> float | None:
        """Return the cost of the model's answer in dollars; None if unknown or without one."""

    def mark(self, row: StoredEvent, summary: Summary) -> GutterMark:
        """Return the mark at the left edge of a row."""


def group_id(invocation_id: str, part: int = 0) -> str:
    """Return the DOM id of an invocation; an invocation's id may hold any character.

    `part` is the first event of a later part of it (`figures.later_parts`), which has its own id.
    """
    name = invocation_id.encode("utf-8", "replace")
    group = f"i-{sha1(name, usedforsecurity=False).hexdigest()[:12]}"
    return f"{group}-{part}" if part else group


def row_text(summary: Summary) -> str:
    """Return a row's text: the event's summary, without the Markdown of what an agent wrote."""
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
    """Return one row; `previous` is the event before it, if any, `only` a filter that links keep.

    `is_answer` is whether it is the last answer of its invocation; for `part`, see `group_id`.
    """
    summary, duration = row.summary, duration_of(row, previous)
    cost = gutter.cost(summary)
    is_aside = summary.kind in {"checkpoint", "state"} and row.author != USER
    return EventRow(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        shape=shape(summary.kind, final=row.final, has_failed=summary.has_failed),
        author=visible(_who(row, summary)),
        node=visible(summary.node),
        text=_code_text(summary) if summary.kind in CODE else row_text(summary),
        lead=_lead(summary),
        aside=is_aside,
        changes=visible(_changes(summary)) if is_aside else "",
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
    """Return the length of a duration's bar, in steps up to BAR.

    The scale is the same for every row: a new row changes no other, and rows of different runs can
    be compared.
    """
    if duration is None or duration <= _SHORTEST:
        return 0
    return min(round(log10(duration / _SHORTEST) * BAR / 4), BAR)


def invocation_header(heading: Heading, invocation: Invocation, part: int = 0) -> InvocationHeader:
    """Return the header above the events of one invocation, or of a later part of it."""
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
    """Return the header's text for an invocation without a message, by its first row."""
    return "State edited" if row.kind == "state" and row.author == USER else "no message"


@dataclass(frozen=True, slots=True)
class RowContext:
    """The data, other than the items themselves, that the rows of a timeline depend on."""

    gutter: Gutter
    invocations: Mapping[int, Invocation]
    """The figures of invocations, by the event numbers of their headings."""
    selection: int | None = None
    notes: Mapping[int, NoteRow] = field(default_factory=dict)
    """People's notes on events, by event number."""
    only: str = ""
    """The filter in force, which links keep."""
    answers: Container[int] = frozenset()
    """The numbers of the last answers of the invocations."""
    parts: Mapping[int, int] = field(default_factory=dict)
    """The first event of the later part that an event is in, by event number."""
    matches: Container[int] | None = None
    """The matches of the filter; rows of other events say that they don't match."""

    def items(self, items: Iterable[Item]) -> tuple[TimelineItem, ...]:
        """Return the items as rows and headers."""
        return tuple(row for item in items if (row := self._item(item)))

    def _item(self, item: Item) -> TimelineItem | None:
        match item:
            case Heading():
                number = item.row.number
                return invocation_header(item, self.invocations[number], self.parts.get(number, 0))
            case EditRow():
                return dropped_row(item)
            case Ending():
                return run_end(item.run, item.previous)
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
            is_only_call = len(item.previous.summary.calls) == 1
            ran = is_only_call and any(edit.ran for edit in item.row.summary.edits)
            row = replace(row, answers=True, replaces_call=ran)
        if self.matches is None or row.number in self.matches:
            return row
        flag = Flag("astray", "not in the filter", "shown because it is selected")
        return replace(row, flags=(flag, *row.flags))


def dropped_row(row: EditRow) -> DroppedRow:
    """Return the row of an event that a person dropped."""
    edit = row.edit
    return DroppedRow(
        edit=row.id,
        text=visible(f"{edit.actor} dropped an event of {edit.agent}"),
        moment=moment(edit.at),
        original=json_text(json.loads(edit.before)),
    )


def _answers(summary: Summary, before: Summary) -> bool:
    """Return whether an event consists only of results of the previous event's calls."""
    call_ids = {call.id for call in before.calls if call.id}
    ids = [response.id for response in summary.responses]
    return bool(ids) and call_ids.issuperset(ids)


def _code_text(summary: Summary) -> str:
    """Return the text of a row of code; that of an edited event begins with what was changed."""
    text, lead = visible(short_line(summary)), _lead(summary)
    changes = visible(", ".join(edit.change for edit in summary.edits if edit.change))
    if not changes:
        return text
    if summary.kind == "call" and len(summary.calls) == 1:
        name = visible(summary.calls[0].name)
        return f"{name}: {changes} · {text.removeprefix(name)}"
    return f"{lead}{changes} · {text.removeprefix(lead)}"


def _lead(summary: Summary) -> str:
    """Return the tool's name that a result begins with; "" for several results."""
    responses = summary.responses
    if summary.kind != "result" or len(responses) != 1:
        return ""
    has_run = any(edit.ran for edit in summary.edits)
    lead = responses[0].name if has_run else f"{responses[0].name} → "
    return lead if summary.text.startswith(lead) and lead == visible(lead) else ""


def _flags(row: StoredEvent, summary: Summary, *, is_answer: bool) -> Iterable[Flag]:
    if summary.round:
        yield Flag("round", f"round {summary.round}", "this agent, or one above it, runs again")
    if summary.edited:
        yield Flag("edited", interventions.word(summary), interventions.hint(summary), "pencil")
    if summary.changed:
        hint = "a callback, plugin, or planner changed the model's answer"
        yield Flag("changed", "changed", hint)
    yield from _failures(summary)
    yield from _notices(summary)
    if summary.state_count:
        yield Flag("delta", f"Δ {summary.state_count}", visible(f"changes {_changes(summary)}"))
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
    stands_in = any(response.waits_for for response in summary.responses)
    if is_answer and summary.kind != "error" and not stands_in:
        yield Flag("final", "final", "the last answer of this invocation")


def _changes(summary: Summary) -> str:
    """Return the keys of the event's state delta: `bill, tip`."""
    more = summary.state_count - len(summary.state_keys)
    return ", ".join(summary.state_keys) + (f" and {more} more" if more else "")


def _amounts(row: StoredEvent) -> Iterable[Flag]:
    if row.size >= LARGE:
        yield Flag("size", size(row.size), "the size of its JSON")
    if row.chunks:
        yield Flag("chunks", plural(row.chunks, "chunk"), "arrived in partial events")


def _failures(summary: Summary) -> Iterable[Flag]:
    """Yield flags for a tool that returned an error, and for a call made again after a failure."""
    if failed := [response.name for response in summary.responses if response.failed]:
        yield Flag("error", "failed", visible(f"{', '.join(failed)} returned an error"))
    if attempt := max([summary.attempt, *(each.attempt for each in summary.responses)]):
        yield Flag("attempt", f"try {attempt}", "the call was made again after it failed")


def _notices(summary: Summary) -> Iterable[Flag]:
    """Yield a flag for each kind of note that the debugger made about the state."""
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
        yield Flag("overlap", "parallel write", visible("; ".join(texts)), "warning")


def _who(row: StoredEvent, summary: Summary) -> str:
    """Return the event's node or agent; in a workflow, with its run after the first: `pay@2`."""
    if summary.node:
        return name_of(summary.node)
    name = name_of(summary.path)
    return name if name.rpartition("@")[0] == row.author else row.author


def _depth(row: StoredEvent, summary: Summary) -> int:
    """Return the number of agents or nodes above it; old events only have their branch."""
    if summary.path:
        return summary.path.count("/")
    return row.branch.count(".") if row.branch else 0
