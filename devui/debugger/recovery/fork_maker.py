"""Forks a session at an event to try something else; the parent is only read."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.events.bus import Bus
from devui.debugger.events.changed_fields import changed_event
from devui.debugger.events.news import ForksChanged, News
from devui.debugger.events.shape import no_actions
from devui.debugger.runs.commit import event_of
from devui.store.errors import EventNotFound
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import NewEvent, NewFork, SessionRow
from devui.wire.events import USER, Event
from devui.wire.gates import EDITED

Reason = Literal["same", "message", "state", "event", "replay"]
"""What is different in the fork: nothing yet, the user's message that follows, the state, or the
last event. `replay`: nothing, since a run is executed again in it."""


class NotForkable(ValueError):
    """The requested fork makes no sense; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """Where to fork, and what to change."""

    number: int
    """The last event of the fork, or with `message` the first that it leaves out; 0: no events."""
    message: bool = False
    """Whether `number` is a user's message, to be replaced by another."""
    state: Mapping[str, Any] | None = None
    """State keys to set after the last event, with their prefixes."""
    event: Mapping[str, Any] | None = None
    """The replacement of the last event, in ADK's wire form."""
    replay: bool = False
    """Whether what follows in the parent is to be executed again."""
    note: str | None = None
    actor: str = "api"
    id: str | None = None

    @property
    def reason(self) -> Reason:
        """Why the fork is made."""
        if self.message:
            return "message"
        if self.event is not None:
            return "event"
        if self.replay:
            return "replay"
        return "same" if self.state is None else "state"


class ForkMaker:
    """Makes forks and notifies readers of the parent."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus

    async def fork(self, parent: SessionRow, request: ForkRequest) -> SessionRow:
        """Make a fork. Raises NotForkable, EventNotFound, SessionExists, BadValue."""
        changes = (request.message, request.state is not None, request.event is not None)
        if sum(changes) > 1:
            raise NotForkable("a fork can change only one of message, state, and event")
        number = request.number - (request.message or request.event is not None)
        first = await self._first(parent, request)
        row = await self._journal.forks.make(
            parent.key,
            NewFork(
                number=number,
                id=(request.id or "").strip() or str(uuid.uuid4()),
                reason=request.reason,
                note=(request.note or "").strip() or None,
                title=parent.title,
                actor=request.actor,
            ),
            history=history([first]) if first else None,
        )
        self._bus.publish(parent.key, ForksChanged(parent.key))
        return row

    async def _first(self, parent: SessionRow, request: ForkRequest) -> NewEvent | None:
        """Return the event that the fork has and its parent doesn't, if any."""
        if request.number == 0 and request.reason in {"same", "state", "replay"}:
            invocation = f"p-{uuid.uuid4()}"
        else:
            body = await self._journal.events.body(parent.key, request.number)
            if body is None:
                raise EventNotFound(
                    f"session {parent.key} has no event #{request.number}: it has {parent.events}"
                )
            if request.message and message_text(body[1]) is None:
                raise NotForkable(f"#{request.number} isn't a user message")
            if request.event is not None:
                return _edited_event(body[1], request, final=body[0].final)
            invocation = body[0].invocation_id
        return None if request.state is None else _state_event(request, invocation)


def message_text(event: Event) -> str | None:
    """Return the text of a user's message; None for any other event."""
    if event.author != USER or not event.parts or event.responses:
        return None
    return event.content.text


def _edited_event(before: Event, request: ForkRequest, *, final: bool) -> NewEvent:
    """Return the edited event. Id, invocation and time stay, as with edits of held events."""
    event = dict(request.event or {})
    for name in ("id", "invocationId", "timestamp", "author", "nodeInfo", "branch"):
        if name in before.fields:
            event[name] = before.fields[name]
    _mark(event, {**before.metadata}, "edit", request.actor)
    after = Event.of(event)
    return event_of(after, final=final, changes={None: changed_event(before, after)})


def _state_event(request: ForkRequest, invocation: str) -> NewEvent:
    delta = {k: v for k, v in (request.state or {}).items() if not k.startswith("temp:")}
    event: dict[str, Any] = {
        "id": str(uuid.uuid4()),
        "invocationId": invocation,
        "author": USER,
        "timestamp": time.time(),
        "actions": {**no_actions(), "stateDelta": delta},
        "nodeInfo": {"path": ""},
    }
    _mark(event, {}, "state", request.actor)
    return event_of(Event.of(event), final=True)


def _mark(event: dict[str, Any], metadata: dict[str, Any], action: str, actor: str) -> None:
    mark = {"edit": None, "gate": "fork", "action": action, "by": actor}
    event["customMetadata"] = {**metadata, EDITED: [*metadata.get(EDITED, []), mark]}
