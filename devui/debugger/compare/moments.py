"""Compares two events in full: their contents, the state after them, and the model requests."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from devui.debugger.compare.changes import Section, sections
from devui.debugger.events.spans import Piece, SentRequest, request_and_answers
from devui.debugger.history.state_diff import StateChange, state_changes
from devui.store.journal import Journal
from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.wire.events import Event


@dataclass(frozen=True, slots=True)
class Moment:
    """An event of one side."""

    row: EventRow
    event: Event


@dataclass(frozen=True, slots=True)
class Prompts:
    """The model requests of two events."""

    left: SpanRow
    right: SpanRow
    before: SentRequest
    after: SentRequest

    @property
    def aspects(self) -> tuple[str, ...]:
        """The names of the pieces in which the requests differ."""
        old, new = _pieces(self.before), _pieces(self.after)
        return tuple(name for name, piece in old.items() if piece != new[name])


@dataclass(frozen=True, slots=True)
class MomentDiff:
    """The differences between two events, or the contents of an event without a partner."""

    left: Moment | None
    right: Moment | None
    sections: Sequence[Section]
    state: Sequence[StateChange] | None
    """The differences in the state after the events; None if one of them is missing."""
    prompts: Prompts | None
    """None unless both events have a model call whose request was recorded."""


async def moment(journal: Journal, session: SessionRow, number: int) -> Moment | None:
    """Return the event of this number, if it exists."""
    body = await journal.events.body(session.key, number)
    return Moment(*body) if body else None


async def moment_diff(journal: Journal, left: Moment | None, right: Moment | None) -> MomentDiff:
    """Compare two events; one of them may be missing."""
    changes = await asyncio.to_thread(
        sections, left.event if left else None, right.event if right else None
    )
    if left is None or right is None:
        return MomentDiff(left, right, changes, None, None)
    before = await journal.state.at(left.row.session, left.row.seq)
    after = await journal.state.at(right.row.session, right.row.seq)
    state = await asyncio.to_thread(state_changes, before, after)
    return MomentDiff(left, right, changes, state, await _prompts(journal, left.row, right.row))


async def _prompts(journal: Journal, left: EventRow, right: EventRow) -> Prompts | None:
    first, second = await _model_call(journal, left), await _model_call(journal, right)
    if first is None or second is None:
        return None
    before, _ = await request_and_answers(journal, first)
    after, _ = await request_and_answers(journal, second)
    return Prompts(first, second, before, after) if before and after else None


async def _model_call(journal: Journal, row: EventRow) -> SpanRow | None:
    spans = await journal.spans.of_event(row.session, row.number)
    return next((span for span in reversed(spans) if span.type == "model"), None)


def _pieces(request: SentRequest) -> dict[str, object]:
    """Return the pieces by kind, as their names: equal names mean equal texts."""
    return {
        "model": request.model,
        "system": _name(request.system),
        "tools": _name(request.tools),
        "config": _name(request.config),
        "messages": [piece.name for piece in request.contents],
    }


def _name(piece: Piece | None) -> str | None:
    return piece.name if piece else None
