"""State that is written but not committed, as the State panel and an event's detail show it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from devui.debugger.runs.uncommitted import TouchOutcome, touch_outcomes, who
from devui.store.rows import Change, EventRow, SessionRow, TouchRow
from devui.store.state import scoped
from devui.store.summaries import Summary
from devui.web.links import session_url
from devui.web.panels.inspector.mark_parts import EventNotes, StateNoteItem
from devui.web.panels.inspector.parts import PendingGroup
from devui.web.panels.state.panel import uncommitted_value
from devui.web.panels.state.parts import StateValue
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural

_OUTCOMES: Final = {
    "pending": "not committed yet",
    "overwritten": "overwritten before it was committed",
    "lost": "lost",
}


async def touches_of(services: Services, session: int, run: str) -> list[TouchRow]:
    """Return the reads and writes of uncommitted state that a run reported."""
    live = services.runs.live(session)
    if live is not None and live.row.id == run:
        return live.touches.rows(run, session)
    return await services.journal.uncommitted.of_run(run)


def is_over(services: Services, session: int, run: str) -> bool:
    """Return whether the run has ended, so that its pending writes can't be committed any more."""
    live = services.runs.live(session)
    return live is None or live.row.id != run


async def of_run(services: Services, session: int, run: str | None) -> list[TouchOutcome]:
    """Return a run's writes before a commit, their readers, and the outcome of each."""
    if run is None:
        return []
    rows = await touches_of(services, session, run)
    return touch_outcomes(rows, over=is_over(services, session, run))


async def groups(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    held_groups: Sequence[PendingGroup],
) -> tuple[PendingGroup, ...]:
    """Return what is pending now, by writer, and what the newest run, or an event's run, lost.

    `held_groups` are the changes of held events, which come with more detail.
    """
    newest = await services.journal.runs.newest(session.key) if row is None else None
    run = row.run if row else newest.id if newest else None
    touches = await of_run(services, session.key, run)
    pending = (
        []
        if row
        else _groups(touches, "pending", {(g.by, v.key) for g in held_groups for v in g.values})
    )
    with_notes = (_with_notes(group, touches) for group in held_groups)
    return (*with_notes, *pending, *_groups(touches, "lost", set()))


def _with_notes(group: PendingGroup, touches: Sequence[TouchOutcome]) -> PendingGroup:
    """Add to a held event's changes the line that wrote each one and its readers."""
    writes = {
        visible(item.touch.key): item
        for item in touches
        if item.touch.reads is None
        and item.outcome == "pending"
        and visible(item.touch.agent) == group.by
    }
    values = (_with_note(value, writes.get(value.key), touches) for value in group.values)
    return replace(group, values=tuple(values))


def _with_note(
    value: StateValue, write: TouchOutcome | None, touches: Sequence[TouchOutcome]
) -> StateValue:
    if write is None:
        return value
    note = "; ".join(filter(None, (value.note, *_about(write, touches))))
    return replace(value, note=note, place=visible(write.touch.place))


def _groups(
    touches: Sequence[TouchOutcome], outcome: str, excluded: set[tuple[str, str]]
) -> list[PendingGroup]:
    writes = [item for item in touches if item.touch.reads is None and item.outcome == outcome]
    remaining = [
        item
        for item in writes
        if (visible(item.touch.agent), visible(item.touch.key)) not in excluded
    ]
    by = sorted(remaining, key=lambda item: item.who)
    groups = []
    for name, items in groupby(by, key=lambda item: item.who):
        values = tuple(_value(item, touches) for item in items)
        writer, count, is_lost = visible(name), plural(len(values), "key"), outcome == "lost"
        lost = f"Lost: {count} written by {writer}."
        label = lost if is_lost else f"{outcome} from {writer}: {count}"
        groups.append(PendingGroup(writer, label, values, is_lost=is_lost))
    return groups


def _value(item: TouchOutcome, touches: Sequence[TouchOutcome]) -> StateValue:
    touch = item.touch
    scope, key = scoped(touch.key)
    change = Change(scope, key, old=touch.old, new=touch.value)
    note = "; ".join(_about(item, touches))
    place = visible(touch.place)
    return uncommitted_value(change, number=touch.number, note=note, place=place)


def _about(item: TouchOutcome, touches: Sequence[TouchOutcome]) -> Iterator[str]:
    touch = item.touch
    if touch.paths:
        yield f"changed without a delta: {visible(', '.join(touch.paths))}"
    readers = dict.fromkeys(each.who for each in touches if each.touch.reads == touch.number)
    if readers:
        yield f"read by {visible(', '.join(readers))}"
    others = {each.touch.number: each.who for each in touches}
    if touch.overlaps in others:
        yield f"also written by {visible(others[touch.overlaps])}; the last write wins"


def event_notes(
    touches: Sequence[TouchOutcome], row: EventRow, summary: Summary
) -> EventNotes | None:
    """Return the notes on one event, such as dirty reads and changes without a delta."""
    items = (
        *_dirty_reads(touches, row),
        *_silent(touches, row),
        *_read_early(touches, row),
        *_overlaps(summary),
    )
    return EventNotes(items) if items else None


def _overlaps(summary: Summary) -> Iterator[StateNoteItem]:
    for note in summary.notes:
        if note.kind == "overlap":
            text = f"{note.key} was written by {note.by} at the same time"
            yield StateNoteItem("overlap", "parallel write", visible(text))


def _dirty_reads(touches: Sequence[TouchOutcome], row: EventRow) -> Iterator[StateNoteItem]:
    writes = {item.touch.number: item for item in touches if item.touch.reads is None}
    for item in touches:
        write = writes.get(item.touch.reads or 0)
        if write is not None and item.event == row.number:
            yield StateNoteItem(
                "dirty",
                "dirty read",
                visible(f"of {write.touch.key}, written by {_at(write)}"),
                outcome=_outcome(write),
                href=_link(write, row.session),
                place=visible(f"read by {who(item.touch)}"),
                code=visible(item.touch.place),
            )


def _silent(touches: Sequence[TouchOutcome], row: EventRow) -> Iterator[StateNoteItem]:
    for item in touches:
        if item.flagged == row.number and item.touch.paths:
            key = visible(item.touch.key)
            yield StateNoteItem(
                "silent",
                "state changed without a delta",
                f"{visible(', '.join(item.touch.paths))}; assign {key} to save it",
                outcome=_outcome(item),
                href=_link(item, row.session),
                place=visible(f"by {who(item.touch)}"),
                code=visible(item.touch.place),
            )


def _read_early(touches: Sequence[TouchOutcome], row: EventRow) -> Iterator[StateNoteItem]:
    writes = {item.touch.number: item for item in touches if item.touch.reads is None}
    for item in touches:
        write = writes.get(item.touch.reads or 0)
        if write is not None and write.event == row.number and item.event != row.number:
            href = session_url(row.session, event=item.event) if item.event else None
            yield StateNoteItem(
                "dirty",
                "read before the commit",
                visible(f"{write.touch.key}, by {_at(item)}"),
                outcome=f"in #{item.event}" if item.event else "",
                href=href,
            )


def _at(item: TouchOutcome) -> str:
    return f"{who(item.touch)} at {item.touch.place}" if item.touch.place else who(item.touch)


def _outcome(write: TouchOutcome) -> str:
    return f"committed as #{write.event}" if write.event else _OUTCOMES[write.outcome]


def _link(write: TouchOutcome, session: int) -> str:
    """Return the link to the event that committed the write, or to the state if none did."""
    return (
        session_url(session, event=write.event)
        if write.event
        else session_url(session, tab="state")
    )
