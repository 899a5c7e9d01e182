"""Makes the messages to an agent on another server: what is new to it (adk-runtime 14)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from a2a.types import Artifact, Message, Part, Role, SendMessageRequest, Task
from google.genai import types
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from pydantic import BaseModel

from devui.runtime.agents.agent_tree import is_on_path
from devui.runtime.agents.invocation_events import REQUEST_CREDENTIAL
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.flows.llm_flows.visibility import USER, View, is_visible, quoted
from devui.runtime.platform.uuid import new_uuid

if TYPE_CHECKING:
    from devui.runtime.events.event import Event


# Conversion of content parts to parts of A2A messages, and back (adk-runtime 14).
#
# A2A knows text, files and data. All other parts are sent as data marked with their kind, in the
# way of google-adk, so that two such agents understand each other.


THOUGHT = "adk_thought"
KIND = "adk_type"
SIGNATURE = "adk_thought_signature"
LONG_RUNNING = "adk_is_long_running"
"""Keys of a part's metadata."""

_MODELS: dict[str, type[BaseModel]] = {
    "function_call": types.FunctionCall,
    "function_response": types.FunctionResponse,
    "code_execution_result": types.CodeExecutionResult,
    "executable_code": types.ExecutableCode,
}
"""Fields of a part that are sent as data."""
_BEGIN, _END = b"<a2a_datapart_json>", b"</a2a_datapart_json>"
"""Markers around data without a kind, which a content holds as a text file."""
_TEXT_FILE = "text/plain"


def to_a2a(part: types.Part) -> Part | None:
    """Convert a part for another server; None if A2A has no form for it."""
    pair = _with_content(part)
    if pair is None:
        return None
    metadata = pair[1] | (part.part_metadata or {})
    if metadata:
        ParseDict(metadata, pair[0].metadata)
    return pair[0]


def from_a2a(part: Part) -> types.Part | None:
    """Convert a part for a content; None if its kind is unknown."""
    metadata = MessageToDict(part.metadata)
    genai_part = _as_content(part, metadata)
    if genai_part is not None and metadata:
        genai_part.part_metadata = metadata
    return genai_part


def is_long_running(part: Part) -> bool:
    """Return whether it is a function call whose answer the other server waits for."""
    return bool(MessageToDict(part.metadata).get(LONG_RUNNING) is True)


def data_of(part: types.Part) -> Any:
    """Return the data of a part that arrived as data without a kind; None for other parts."""
    blob = part.inline_data
    if blob is None or blob.mime_type != _TEXT_FILE or not blob.data:
        return None
    if not (blob.data.startswith(_BEGIN) and blob.data.endswith(_END)):
        return None
    try:
        return json.loads(blob.data[len(_BEGIN) : -len(_END)])
    except ValueError:
        return None  # a text by the user that only looks like it


def _with_content(part: types.Part) -> tuple[Part, dict[str, Any]] | None:
    """Return the A2A part and its metadata."""
    if part.text is not None:
        return Part(text=part.text), {} if part.thought is None else {THOUGHT: part.thought}
    if (data := data_of(part)) is not None:
        return _data_part(data), {}
    if (file := _file_part(part)) is not None:
        return file, {}
    for kind in _MODELS:
        if (item := getattr(part, kind)) is not None:
            marks = {KIND: kind}
            if part.thought_signature is not None:
                marks[SIGNATURE] = base64.b64encode(part.thought_signature).decode()
            return _data_part(item.model_dump(mode="json", by_alias=True, exclude_none=True)), marks
    return None


def _file_part(part: types.Part) -> Part | None:
    if (file := part.file_data) is not None:
        return Part(
            url=file.file_uri or "", media_type=file.mime_type or "", filename=file.display_name
        )
    if (blob := part.inline_data) is not None and blob.data is not None:
        return Part(raw=blob.data, media_type=blob.mime_type or "", filename=blob.display_name)
    return None


def _data_part(data: Any) -> Part:
    return Part(data=ParseDict(data, Value()))


def _as_content(part: Part, metadata: dict[str, Any]) -> types.Part | None:
    media_type, name = part.media_type or None, part.filename or None
    match part.WhichOneof("content"):
        case "text":
            return types.Part(text=part.text, thought=metadata.get(THOUGHT))
        case "url":
            file = types.FileData(file_uri=part.url, mime_type=media_type, display_name=name)
            return types.Part(file_data=file)
        case "raw":
            blob = types.Blob(data=part.raw, mime_type=media_type, display_name=name)
            return types.Part(inline_data=blob)
        case "data":
            return _from_data(MessageToDict(part.data), metadata)
        case _:
            return None


def _from_data(data: Any, metadata: dict[str, Any]) -> types.Part:
    if (kind := metadata.get(KIND)) in _MODELS:
        try:
            signature = base64.b64decode(metadata.get(SIGNATURE, "")) or None
            fields = {kind: _MODELS[kind].model_validate(data), "thought_signature": signature}
            return types.Part.model_validate(fields)
        except (TypeError, ValueError):
            pass  # wrongly marked; it is kept as plain data
    blob = types.Blob(
        data=_BEGIN + json.dumps(data, sort_keys=True).encode() + _END, mime_type=_TEXT_FILE
    )
    return types.Part(inline_data=blob)


TASK_ID, CONTEXT_ID = "a2a:task_id", "a2a:context_id"
REQUEST, RESPONSE, ERROR = "a2a:request", "a2a:response", "a2a:error"
"""Keys of an event's custom metadata."""
_OUTCOMES = frozenset({RESPONSE, ERROR})
"""Keys for the outcome of a message; events of callbacks, or of runs that sent none, have
neither."""
ASKS_USER = "mock_function_call_for_required_user_input"
ASKS_LOGIN = "mock_function_call_for_required_user_auth"
"""Calls that stand for the questions of an agent that doesn't ask by calls."""
WAITING = ("TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED")
"""States of a task that continues with the next message."""
_SECRET = frozenset({REQUEST_CREDENTIAL, ASKS_LOGIN})
"""Calls whose answers are secret; a request for a credential has secret arguments, too."""
_SAID_BY_USER = "is_user_input"


@dataclass(frozen=True, slots=True)
class Sender:
    """Makes the messages to one agent on another server."""

    view: View
    """The local agent that stands for it, and where it runs."""
    convert: Callable[[types.Part], Part | list[Part] | None]
    """Converts a part of a content to parts of a message."""
    newest_first: Sequence[Event]
    """The events that the agent may see."""
    full_history: bool = False
    """Whether an agent without a memory of its own is sent everything each time."""

    @classmethod
    def of(
        cls,
        events: Sequence[Event],
        view: View,
        convert: Callable[[types.Part], Part | list[Part] | None],
        *,
        full_history: bool,
    ) -> Sender:
        """Create a sender for the events of a session, oldest first."""
        near = [event for event in live_events_backwards(events) if _is_near(event, view)]
        return cls(view, convert, near, full_history)

    def answer(self) -> Message | None:
        """Return the user's answer to the agent's calls, for the task that waits for it."""
        latest = self.newest_first[0] if self.newest_first else None
        if latest is None or latest.author != USER:
            return None
        responses = latest.get_function_responses()
        question_event = _event_with_calls({each.id for each in responses}, self._own())
        if question_event is None:
            return None
        names = {call.id: call.name for call in question_event.get_function_calls()}
        answers = [each for each in responses if names.get(each.id) not in {None, *_SECRET}]
        in_words = all(names[each.id] == ASKS_USER for each in answers)
        parts = [
            types.Part(text=_words(each.response))
            if in_words
            else types.Part(function_response=each)
            for each in answers
        ]
        metadata = question_event.custom_metadata or {}
        a2a_parts = [p for part in parts for p in self._a2a_parts(part)]
        return _message(a2a_parts, metadata.get(CONTEXT_ID), metadata.get(TASK_ID))

    def news(self) -> tuple[list[Part], str | None]:
        """Return what was said and done since the agent's last answer, and its context's id."""
        last = next(self._own(), None)
        context_id = _metadata(last).get(CONTEXT_ID)
        call_ids = {call.id for e in self._own() for call in e.get_function_calls()}
        parts: list[Part] = []
        for event in reversed(list(self._since(last, stateless=context_id is None))):
            parts.extend(self._parts(event, call_ids))
        return parts, context_id

    def message(self, parts: list[Part], context_id: str | None) -> Message | None:
        """Create a message from such news, for the waiting task of that context, if any.

        Return None if there is nothing to say.
        """
        last = next(self._own(), None)
        metadata = _metadata(last)
        goes_on = (
            last is not None
            and metadata.get(CONTEXT_ID) == context_id
            and _waits(last)
            and not self._has_failed_since()
        )
        return _message(parts, context_id, metadata.get(TASK_ID) if goes_on else None)

    def _has_failed_since(self) -> bool:
        """Return whether the latest message failed; the server may or may not have received it."""
        for event in self.newest_first:
            if event.author == self.view.agent and not _metadata(event).keys().isdisjoint(
                _OUTCOMES
            ):
                return ERROR in _metadata(event)
        return False

    def _since(self, last: Event | None, *, stateless: bool) -> Iterator[Event]:
        for event in self.newest_first:
            if event is last and not (self.full_history and stateless):
                return
            if is_visible(event, self.view):
                yield event

    def _own(self) -> Iterator[Event]:
        """Yield the remote agent's answers, newest first."""
        for event in self.newest_first:
            if event.author == self.view.agent and _metadata(event).get(RESPONSE):
                yield event

    def _parts(self, event: Event, call_ids: set[str | None]) -> Iterator[Part]:
        content = event.content
        if content is None:
            return
        if event.author not in (USER, self.view.agent):
            content = quoted(content, event.author, thoughts=False)
        for part in (content.parts if content else None) or []:
            if _is_secret(part):
                continue
            for a2a_part in self._a2a_parts(_readable_part(part, call_ids)):
                if event.author == USER:
                    a2a_part.metadata.update({_SAID_BY_USER: True})
                yield a2a_part

    def _a2a_parts(self, part: types.Part) -> list[Part]:
        result = self.convert(part)
        if result is None:
            return []
        return result if isinstance(result, list) else [result]


def request_of(message: Message, metadata: dict[str, Any]) -> SendMessageRequest:
    """Create the request that sends a message with metadata."""
    request = SendMessageRequest(message=message)
    if metadata:
        ParseDict(metadata, request.metadata)
    return request


def as_json(value: Message | Task | Artifact) -> dict[str, Any]:
    """Return a message, task or artifact as JSON, without the bytes of files."""
    document: dict[str, Any] = MessageToDict(value)
    for part in document.get("status", {}).get("message", document).get("parts", []):
        part.pop("raw", None)
    return document


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


def _metadata(event: Event | None) -> dict[str, Any]:
    """Return the custom metadata of an event; empty without any."""
    return (event.custom_metadata if event else None) or {}


def _event_with_calls(ids: set[str | None], events: Iterator[Event]) -> Event | None:
    for event in events:
        if any(call.id in ids for call in event.get_function_calls()):
            return event
    return None


def _waits(event: Event) -> bool:
    """Return whether the event's task continues with the next message."""
    response = _metadata(event).get(RESPONSE)
    status = response.get("status") if isinstance(response, dict) else None
    return isinstance(status, dict) and status.get("state") in WAITING


def _is_secret(part: types.Part) -> bool:
    response, call = part.function_response, part.function_call
    return bool(
        (response and response.name in _SECRET) or (call and call.name == REQUEST_CREDENTIAL)
    )


def _readable_part(part: types.Part, call_ids: set[str | None]) -> types.Part:
    """Return the part; results of calls that the remote agent didn't make become text."""
    response = part.function_response
    if response is None or response.id in call_ids:
        return part
    result = json.dumps(response.response, default=str)
    return types.Part(text=f"The tool `{response.name}` returned: {result}")


def _words(response: dict[str, Any] | None) -> str:
    """Return a human's answer to a question as text."""
    if response and list(response) == ["result"]:
        return str(response["result"])
    return json.dumps(response or {}, default=str)
