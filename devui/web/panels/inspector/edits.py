"""What people changed while something was held: the original, its replacement, and the diff."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from devui.store.rows import EditRow, EventRow
from devui.store.summaries import Summary
from devui.web.panels.chat.content_parts import CallPart
from devui.web.panels.hold.interventions import hint, sentence
from devui.web.panels.inspector.mark_parts import EditItem, EventEdits
from devui.web.panels.inspector.parts import EventDetail
from devui.web.text.deceptive_characters import visible
from devui.web.text.difference import as_text, difference
from devui.web.text.formats import moment
from devui.web.text.gates import CHANGED
from devui.web.text.jsontree import json_text
from devui.wire.gates import GUARD, original


def event_edits(rows: Iterable[EditRow], summary: Summary) -> EventEdits | None:
    """Return what was held and what replaced it; None if nobody changed the event."""
    if not summary.edited:
        return None
    edits = tuple(rows)
    title = "Changed by the guard" if _only_guarded(edits) else "Changed by a person"
    return EventEdits(hint(summary), tuple(map(_edit_shown, edits)), title)


def _only_guarded(rows: Sequence[EditRow]) -> bool:
    """Return whether all edits are the guard's, which replaces calls with their recorded
    results."""
    return bool(rows) and all(row.edit.actor == GUARD for row in rows)


def _edit_shown(row: EditRow) -> EditItem:
    edit = row.edit
    before, after = original(edit.gate, json.loads(edit.before)), json.loads(edit.after)
    gives = edit.action in {"edit", "mock", "reject", "end"}
    return EditItem(
        number=row.id,
        word=CHANGED.get(edit.action, edit.action),
        sentence=sentence(edit.action, edit.gate, edit.actor),
        moment=moment(edit.at),
        original=json_text(before),
        replacement=json_text(after) if gives else None,
        diff=difference(as_text(before), as_text(after)) if edit.action == "edit" else (),
    )


def with_args_run(detail: EventDetail, rows: Iterable[EventRow]) -> EventDetail:
    """Return an event whose calls name the arguments that people had the tools called with instead.

    `rows` are the events that may hold the results.
    """
    edits = (edit for row in rows for edit in row.summary.edits)
    args = {edit.call: visible(edit.ran) for edit in edits if edit.ran and edit.call}
    parts = (
        replace(part, ran=args.get(part.id, "")) if isinstance(part, CallPart) else part
        for part in detail.parts
    )
    return replace(detail, parts=tuple(parts)) if args else detail


def mark_numbers(marks: object) -> set[int]:
    """Return the numbers of the edits that an event's marks name."""
    entries = marks if isinstance(marks, list) else []
    numbers = (mark.get("edit") for mark in entries if isinstance(mark, dict))
    return {number for number in numbers if isinstance(number, int)}
