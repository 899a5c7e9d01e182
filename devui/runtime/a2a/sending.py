"""What an agent of another server is sent: what happened since its last answer (adk-runtime 14)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from a2a.types import Artifact, Message, Part, Role, SendMessageRequest, Task
from google.genai import types
from google.protobuf.json_format import MessageToDict, ParseDict

from devui.runtime.agents.branches import is_on_path
from devui.runtime.agents.open_calls import REQUEST_CREDENTIAL
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.flows.llm_flows.foreign_events import quoted
from devui.runtime.flows.llm_flows.visibility import USER, View, is_visible
from devui.runtime.platform.uuid import new_uuid

if TYPE_CHECKING:
    from devui.runtime.events.event import Event

TASK_ID, CONTEXT_ID = "a2a:task_id", "a2a:context_id"
REQUEST, RESPONSE, ERROR = "a2a:request", "a2a:response", "a2a:error"
"""Keys of an event's custom metadata."""
_OUTCOMES = frozenset({RESPONSE, ERROR})
"""Those of what came of a message; events of callbacks, or of a run without one, have neither."""
ASKS_USER = "mock_function_call_for_required_user_input"
ASKS_LOGIN = "mock_function_call_for_required_user_auth"
"""Calls that stand for a question of an agent that does not ask by calls."""
WAITING = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")
"""States of a task that goes on with the next message."""
_SECRET = frozenset({REQUEST_CREDENTIAL, ASKS_LOGIN})
"""Calls whose answers, and of the first the arguments too, are for nobody else's eyes."""
_SAID_BY_USER = "is_user_input"


@dataclass(frozen=True, slots=True)
class Sender:
    """Makes the messages to one agent of another server."""

    view: View
    """The agent here that stands for it, and where it is run."""
    convert: Callable[[types.Part], Part | list[Part] | None]
    """What makes a part of a message of a part of a content."""
    newest_first: Sequence[Event]
    """The events that it may know of."""
    full_history: bool = False
    """Whether an agent that has no memory of its own is told everything each time."""

    @classmethod
    def of(
        cls,
        events: Sequence[Event],
        view: View,
        convert: Callable[[types.Part], Part | list[Part] | None],
        *,
        full_history: bool,
    ) -> Sender:
        """One for the events of a session, oldest first."""
        near = [event for event in live_events_backwards(events) if _is_near(event, view)]
        return cls(view, convert, near, full_history)

    def answer(self) -> Message | None:
        """The user's answer to calls of the agent, for the task that waits for it."""
        latest = self.newest_first[0] if self.newest_first else None
        if latest is None or latest.author != USER:
            return None
        responses = latest.get_function_responses()
        asked = _event_with_calls({each.id for each in responses}, self._own())
        if asked is None:
            return None
        names = {call.id: call.name for call in asked.get_function_calls()}
        given = [each for each in responses if names.get(each.id) not in {None, *_SECRET}]
        in_words = all(names[each.id] == ASKS_USER for each in given)
        parts = [
            types.Part(text=_words(each.response))
            if in_words
            else types.Part(function_response=each)
            for each in given
        ]
        told = asked.custom_metadata or {}
        made = [p for part in parts for p in self._converted(part)]
        return _message(made, told.get(CONTEXT_ID), told.get(TASK_ID))

    def news(self) -> tuple[list[Part], str | None]:
        """What was said and done since the agent's last answer, and the context of that."""
        last = next(self._own(), None)
        context_id = _told(last).get(CONTEXT_ID)
        called = {call.id for e in self._own() for call in e.get_function_calls()}
        parts: list[Part] = []
        for event in reversed(list(self._since(last, stateless=context_id is None))):
            parts.extend(self._parts(event, called))
        return parts, context_id

    def message(self, parts: list[Part], context_id: str | None) -> Message | None:
        """A message of such news, for the task of that context that waits for one.

        None if there is nothing to say.
        """
        last = next(self._own(), None)
        told = _told(last)
        goes_on = (
            last is not None
            and told.get(CONTEXT_ID) == context_id
            and _waits(last)
            and not self._has_failed_since()
        )
        return _message(parts, context_id, told.get(TASK_ID) if goes_on else None)

    def _has_failed_since(self) -> bool:
        """Whether nobody knows if the other side took the message after its last answer."""
        for event in self.newest_first:
            if event.author == self.view.agent and not _told(event).keys().isdisjoint(_OUTCOMES):
                return ERROR in _told(event)
        return False

    def _since(self, last: Event | None, *, stateless: bool) -> Iterator[Event]:
        for event in self.newest_first:
            if event is last and not (self.full_history and stateless):
                return
            if is_visible(event, self.view):
                yield event

    def _own(self) -> Iterator[Event]:
        """What the agent of the other server said."""
        for event in self.newest_first:
            if event.author == self.view.agent and _told(event).get(RESPONSE):
                yield event

    def _parts(self, event: Event, called: set[str | None]) -> Iterator[Part]:
        content = event.content
        if content is None:
            return
        if event.author not in (USER, self.view.agent):
            content = quoted(content, event.author, thoughts=False)
        for part in (content.parts if content else None) or []:
            if _is_secret(part):
                continue
            for made in self._converted(_as_told(part, called)):
                if event.author == USER:
                    made.metadata.update({_SAID_BY_USER: True})
                yield made

    def _converted(self, part: types.Part) -> list[Part]:
        made = self.convert(part)
        if made is None:
            return []
        return made if isinstance(made, list) else [made]


def request_of(message: Message, metadata: dict[str, Any]) -> SendMessageRequest:
    """The request that sends a message, and metadata with it."""
    request = SendMessageRequest(message=message)
    if metadata:
        ParseDict(metadata, request.metadata)
    return request


def as_json(said: Message | Task | Artifact) -> dict[str, Any]:
    """What one side said as JSON, without the bytes of files."""
    told: dict[str, Any] = MessageToDict(said)
    for part in told.get("status", {}).get("message", told).get("parts", []):
        part.pop("raw", None)
    return told


def _message(parts: list[Part], context_id: str | None, task_id: str | None) -> Message | None:
    if not parts:
        return None
    return Message(
        message_id=new_uuid(),
        role=Role.ROLE_USER,
        parts=parts,
        context_id=context_id,
        task_id=task_id,
    )


def _is_near(event: Event, view: View) -> bool:
    return view.covers(event.isolation_scope) and is_on_path(event.branch, view.branch)


def _told(event: Event | None) -> dict[str, Any]:
    """What an answer says of itself."""
    return (event.custom_metadata if event else None) or {}


def _event_with_calls(ids: set[str | None], events: Iterator[Event]) -> Event | None:
    for event in events:
        if any(call.id in ids for call in event.get_function_calls()):
            return event
    return None


def _waits(event: Event) -> bool:
    """Whether the task that the event tells of goes on with the next message."""
    response = _told(event).get(RESPONSE)
    status = response.get("status") if isinstance(response, dict) else None
    return isinstance(status, dict) and status.get("state") in WAITING


def _is_secret(part: types.Part) -> bool:
    response, call = part.function_response, part.function_call
    return bool(
        (response and response.name in _SECRET) or (call and call.name == REQUEST_CREDENTIAL)
    )


def _as_told(part: types.Part, called: set[str | None]) -> types.Part:
    """The part; what a call gave that the other side did not make, in words."""
    response = part.function_response
    if response is None or response.id in called:
        return part
    given = json.dumps(response.response, default=str)
    return types.Part(text=f"The tool `{response.name}` returned: {given}")


def _words(response: dict[str, Any] | None) -> str:
    """A human's answer to a question as a text."""
    if response and list(response) == ["result"]:
        return str(response["result"])
    return json.dumps(response or {}, default=str)
