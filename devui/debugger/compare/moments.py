"""Two events beside each other in full: what they say, the state after them, what was sent."""

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
    """An event of a side."""

    row: EventRow
    event: Event


@dataclass(frozen=True, slots=True)
class Prompts:
    """What was sent to models for two events."""

    left: SpanRow
    right: SpanRow
    before: SentRequest
    after: SentRequest

    @property
    def differing(self) -> tuple[str, ...]:
        """Which pieces of the requests differ."""
        old, new = _pieces(self.before), _pieces(self.after)
        return tuple(name for name, piece in old.items() if piece != new[name])


@dataclass(frozen=True, slots=True)
class MomentDiff:
    """What differs between two events, or what there is of one that stands alone."""

    left: Moment | None
    right: Moment | None
    sections: Sequence[Section]
    state: Sequence[StateChange] | None
    """What differs in the state after them; None where one of them is not there."""
    prompts: Prompts | None
    """None unless a model was asked for both, and what was sent is on record."""


async def moment(journal: Journal, session: SessionRow, number: int) -> Moment | None:
    """The event of this number, None if there is none."""
    body = await journal.events.body(session.key, number)
    return Moment(*body) if body else None


async def moment_diff(journal: Journal, left: Moment | None, right: Moment | None) -> MomentDiff:
    """Compare two events, of which one may be missing."""
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
    """The pieces by what they are; those of one name say the same."""
    return {
        "model": request.model,
        "system": _name(request.system),
        "tools": _name(request.tools),
        "config": _name(request.config),
        "messages": [piece.name for piece in request.contents],
    }


def _name(piece: Piece | None) -> str | None:
    return piece.name if piece else None
