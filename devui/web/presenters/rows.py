"""Stored events as rows of the timeline."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha1
from itertools import groupby, pairwise
from typing import Final

from devui.debugger.nodes import name_of
from devui.debugger.summary import Kind, Summary
from devui.debugger.worktime import seconds_of_work
from devui.store.rows import EventRow as StoredEvent
from devui.store.rows import NoteRow
from devui.web.links import fork_here_url, older_url, session_url
from devui.web.parts.timeline import (
    Earlier,
    EventRow,
    Flag,
    InvocationHeader,
    Later,
    LiveRow,
    TimelineItem,
)
from devui.web.presenters import interventions
from devui.web.presenters.kinds import CODE, WORDS, shape
from devui.web.presenters.margins import Margins
from devui.web.presenters.noting import note_mark
from devui.web.text.figures import compact, dollars, held_for, money, plural, seconds
from devui.web.text.visible import visible

DEEPEST: Final = 4
LIVE_TAIL: Final = 90
NO_NOTES: Final[Mapping[int, NoteRow]] = {}


def group_id(invocation_id: str) -> str:
    """The DOM id of an invocation; ids of invocations may hold any character."""
    return (
        "i-"
        + sha1(invocation_id.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()[:12]
    )


def event_row(
    row: StoredEvent,
    summary: Summary,
    previous: StoredEvent | None,
    *,
    margins: Margins,
    selected: bool = False,
    note: NoteRow | None = None,
) -> EventRow:
    """One row; `previous` is the event before, if there is one."""
    return EventRow(
        number=row.number,
        kind=summary.kind,
        word=WORDS[summary.kind],
        shape=shape(summary.kind, final=row.final),
        author=visible(name_of(summary.node) or row.author),
        node=visible(summary.node),
        text=visible(summary.text),
        code=summary.kind in CODE,
        flags=tuple(_flags(row, summary)),
        elapsed=seconds(seconds_of_work(row, previous)),
        held=held_for(row.held),
        tokens=compact(summary.tokens),
        cost=dollars(margins.cost(summary)),
        mark=margins.mark(row, summary),
        depth=_depth(row.branch),
        branch=visible(row.branch or ""),
        group=group_id(row.invocation_id),
        href=session_url(row.session, event=row.number),
        selected=selected,
        fork_href=fork_here_url(row.session, row.number),
        note=note_mark(note),
    )


def invocation_header(
    events: Sequence[tuple[StoredEvent, Summary]], margins: Margins, *, continued: bool = False
) -> InvocationHeader:
    """The header above the events of one invocation; there is at least one event."""
    first = events[0][0]
    said = next((visible(s.text) for _, s in events if s.kind == "user"), "")
    counted = [s.tokens for _, s in events if s.tokens is not None]
    costs = [margins.cost(s) for _, s in events if s.usage is not None]
    known = [cost for cost in costs if cost is not None]
    cost = money(sum(known), more=len(known) < len(costs)) if known else ""
    rows = [row for row, _ in events]
    worked = sum(seconds_of_work(row, before) or 0.0 for before, row in pairwise(rows))
    held = sum(row.held for row in rows[1:])
    return InvocationHeader(
        group=group_id(first.invocation_id),
        text=said or ("" if continued else "no message"),
        events=plural(len(events), "event"),
        elapsed=f"{seconds(worked)} s",
        held=held_for(held),
        tokens=f"{compact(sum(counted))} tok" if counted else "",
        cost=cost,
        continued=continued,
    )


def timeline_items(
    events: Iterable[tuple[StoredEvent, Summary]],
    margins: Margins,
    *,
    previous: StoredEvent | None = None,
    selected: int | None = None,
    notes: Mapping[int, NoteRow] = NO_NOTES,
) -> tuple[TimelineItem, ...]:
    """Headers and rows of a window of events; `previous` is the event before the window."""
    items: list[TimelineItem] = []
    before = previous
    for invocation, members in groupby(events, key=lambda pair: pair[0].invocation_id):
        group = list(members)
        continued = before is not None and before.invocation_id == invocation
        items.append(invocation_header(group, margins, continued=continued))
        for row, summary in group:
            chosen = row.number == selected
            note = notes.get(row.number)
            items.append(
                event_row(row, summary, before, margins=margins, selected=chosen, note=note)
            )
            before = row
    return tuple(items)


def live_row(author: str, text: str, *, chunks: int, thought: bool = False) -> LiveRow:
    """The row of an answer that is still arriving; it shows the end of what was said so far."""
    kind: Kind = "thought" if thought else "text"
    tail = " ".join(text[-LIVE_TAIL:].split())
    return LiveRow(
        shape=shape(kind, final=False),
        kind=kind,
        word=WORDS[kind],
        author=visible(author),
        text=visible(f"…{tail}" if len(text) > LIVE_TAIL else tail),
        chunks=plural(chunks, "chunk"),
    )


def earlier(session: int, first: StoredEvent | None, *, at: int | None = None) -> Earlier | None:
    """The link to what came before the window's first event; None if nothing did.

    `at` is the event that the page is as of.
    """
    if first is None or first.number <= 1:
        return None
    return Earlier(
        href=older_url(session, first.seq, at=at),
        page_href=session_url(session, event=first.number - 1),
        count=first.number - 1,
    )


def later(
    session: int, count: int, following: int | None, *, at: int | None = None, only: str = ""
) -> Later | None:
    """What is said below rows that so many others come after, `following` the first of them.

    That is None on a page as of the last event that it shows. The filter `only` is kept.
    """
    if not count:
        return None
    go_on = session_url(session, event=following, at=at, only=only) if following else ""
    return Later(session_url(session, only=only), count, go_on)


def _flags(row: StoredEvent, summary: Summary) -> Iterable[Flag]:
    if summary.edited:
        yield Flag("edited", interventions.word(summary), interventions.hint(summary), "pencil")
    yield from _noticed(summary)
    if summary.state_count:
        shown = ", ".join(summary.state_keys)
        more = summary.state_count - len(summary.state_keys)
        hint = f"changes {shown}" + (f" and {more} more" if more else "")
        yield Flag("delta", f"Δ {summary.state_count}", visible(hint))
    if summary.artifacts:
        count = len(summary.artifacts)
        yield Flag("artifact", plural(count, "artifact"), visible(", ".join(summary.artifacts)))
    if row.chunks:
        yield Flag("chunks", plural(row.chunks, "chunk"), "arrived in partial events")
    if summary.partial:
        yield Flag("partial", "partial")
    if summary.long_running:
        yield Flag("long", "long-running", "the tool goes on after the run")
    if row.final and summary.kind != "user":
        yield Flag("final", "final", "is_final_response()")


def _noticed(summary: Summary) -> Iterable[Flag]:
    """What the debugger noticed of the state, a flag for each kind."""
    dirty = [f"{note.key}, written by {note.by}" for note in summary.notes if note.kind == "dirty"]
    silent = [note.key for note in summary.notes if note.kind == "silent"]
    overlaps = [note for note in summary.notes if note.kind == "overlap"]
    if dirty:
        hint = f"read before its commit: {'; '.join(dirty)}"
        yield Flag("dirty", "dirty read", visible(hint), "warning")
    if silent:
        hint = f"state changed without a delta: {', '.join(silent)}; assign the key to keep it"
        yield Flag("silent", "no delta", visible(hint), "warning")
    if overlaps:
        told = [f"{note.key} was written by {note.by}, too" for note in overlaps]
        yield Flag("overlap", "last writer wins", visible("; ".join(told)), "warning")


def _depth(branch: str | None) -> int:
    return min(branch.count("."), DEEPEST) if branch else 0
