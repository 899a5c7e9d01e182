"""Forks a session where somebody wants to try something else; the parent is only read."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.events.bus import Bus
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
"""What is different in the fork: nothing yet, the user's message that follows, the state, the
last event; or nothing at all, since a run is executed again in it."""


class NotForkable(ValueError):
    """The fork that was asked for makes no sense, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkRequest:
    """Where to fork, and what is to be different."""

    number: int
    """The last event of the fork; with `message` the first that it does not have; 0: no events."""
    message: bool = False
    """`number` is a message of the user, which is to be said in another way."""
    state: Mapping[str, Any] | None = None
    """State keys to set behind the last event, with their prefixes."""
    event: Mapping[str, Any] | None = None
    """What takes the place of the last event, in ADK's wire form."""
    replay: bool = False
    """What follows in the parent is to be executed again."""
    note: str | None = None
    actor: str = "api"
    id: str | None = None

    @property
    def reason(self) -> Reason:
        """What the fork is made for."""
        if self.message:
            return "message"
        if self.event is not None:
            return "event"
        if self.replay:
            return "replay"
        return "same" if self.state is None else "state"


class Forking:
    """Makes forks and tells readers of the parent."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus

    async def fork(self, parent: SessionRow, request: ForkRequest) -> SessionRow:
        """The new session. Raises NotForkable, EventNotFound, SessionExists, BadValue."""
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
        """The event that the fork has and its parent has not."""
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
    """The text of the user's message; None for an event that is none."""
    if event.author != USER or not event.parts or event.responses:
        return None
    return event.content.text


def _edited_event(before: Event, request: ForkRequest, *, final: bool) -> NewEvent:
    """As with an event that is edited while it is held: id, invocation and time stay."""
    event = dict(request.event or {})
    for name in ("id", "invocationId", "timestamp", "author", "nodeInfo", "branch"):
        if name in before.fields:
            event[name] = before.fields[name]
    _mark(event, {**before.metadata}, "edit", request.actor)
    return event_of(Event.of(event), final=final)


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
