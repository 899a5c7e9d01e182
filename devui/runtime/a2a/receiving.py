"""Turns the answers of an agent on another server into events (adk-runtime 14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.genai import types

from devui.runtime.a2a.sending import (
    ASKS_LOGIN,
    ASKS_USER,
    CONTEXT_ID,
    RESPONSE,
    TASK_ID,
    as_json,
    data_of,
    is_long_running,
)
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.platform.uuid import new_uuid

_AT_WORK = frozenset(
    {
        TaskState.TASK_STATE_UNSPECIFIED,
        TaskState.TASK_STATE_SUBMITTED,
        TaskState.TASK_STATE_WORKING,
    }
)
_ASKING = {
    TaskState.TASK_STATE_INPUT_REQUIRED: (ASKS_USER, "input_required"),
    TaskState.TASK_STATE_AUTH_REQUIRED: (ASKS_LOGIN, "auth_required"),
}
"""The call that stands for a question asked without one, and the argument for its text."""
_FAILED = {
    TaskState.TASK_STATE_FAILED: ("A2A_TASK_FAILED", "failed"),
    TaskState.TASK_STATE_REJECTED: ("A2A_TASK_REJECTED", "was rejected"),
    TaskState.TASK_STATE_CANCELED: ("A2A_TASK_CANCELED", "was cancelled"),
}
CUT_OFF = "A2A_CUT_OFF"


@dataclass(slots=True)
class _Growing:
    """An artifact that arrives in pieces."""

    event_id: str = field(default_factory=Event.new_id)
    """The id that the partial events and the whole one share."""
    parts: list[Part] = field(default_factory=list)


class Answer:
    """Turns one answer into events, item by item.

    Pieces of an artifact become partial events. When it is complete, or at the latest when the task
    ends, it becomes one whole event, so that the history misses nothing.
    """

    def __init__(
        self,
        author: str,
        branch: str | None,
        convert: Callable[[Part], types.Part | list[types.Part] | None],
    ) -> None:
        """Make events by `author` on `branch`, with parts that `convert` returns."""
        self._author, self._branch, self._convert = author, branch, convert
        self._task = Task()
        """What is known of the task, apart from its messages and artifacts."""
        self._growing: dict[str, _Growing] = {}
        self._sent_ids: set[str] = set()
        """The ids of messages and artifacts that have become events."""
        self._mused: set[str] = set()
        """The ids of messages that have been emitted as thoughts."""

    def take(self, item: StreamResponse) -> Iterator[Event]:
        """Yield the events of one item of the answer."""
        match item.WhichOneof("payload"):
            case "message":
                yield self._of_message(item.message)
            case "task":
                yield from self._of_task(item.task)
            case "status_update":
                yield from self._of_status(item.status_update)
            case "artifact_update":
                yield from self._of_artifact(item.artifact_update)

    def whole(self) -> Iterator[Event]:
        """Yield the artifacts received in pieces so far, when no more of them will arrive."""
        yield from self._whole(list(self._growing))

    def end(self) -> Iterator[Event]:
        """Yield the remaining events at the end of the answer."""
        yield from self.whole()
        if self._task.id and self._task.status.state in _AT_WORK:
            event = self._event([])
            event.error_code = CUT_OFF
            event.error_message = (
                f"The answer broke off before task {self._task.id!r} ended. Try again, or check the"
                " log of the other server."
            )
            yield event

    def _of_message(self, message: Message) -> Event:
        event = self._event(message.parts)
        event.custom_metadata = {RESPONSE: as_json(message)}
        if message.context_id:
            event.custom_metadata[CONTEXT_ID] = message.context_id
        return event

    def _of_task(self, task: Task) -> Iterator[Event]:
        """Yield the event of a task: a whole answer, or the first item of a streamed one."""
        self._know(task.id, task.context_id, task)
        artifacts = [each for each in task.artifacts if each.artifact_id not in self._sent_ids]
        self._growing = {}  # the task has the whole artifacts
        self._sent_ids.update(each.artifact_id for each in artifacts)
        parts = [part for artifact in artifacts for part in artifact.parts]
        parts += self._news(task.status) or ([] if parts else _latest_reply_parts(task))
        event = self._status_event(parts, artifacts)
        if parts and task.status.state not in _AT_WORK and task.status.state not in _ASKING:
            event.actions = EventActions(skip_summarization=True)
        yield event

    def _of_status(self, update: TaskStatusUpdateEvent) -> Iterator[Event]:
        self._know(update.task_id, update.context_id, update)
        parts = self._news(update.status)
        ends = update.status.state not in _AT_WORK
        if ends:
            yield from self.whole()
        if parts or ends:
            yield self._status_event(parts, [])

    def _of_artifact(self, update: TaskArtifactUpdateEvent) -> Iterator[Event]:
        self._know(update.task_id, update.context_id)
        artifact = update.artifact
        growing = self._growing.setdefault(artifact.artifact_id, _Growing())
        if not update.append:
            growing.parts = []
        _append(growing.parts, artifact.parts)
        if update.last_chunk:
            yield from self._whole([artifact.artifact_id])
        elif artifact.parts:
            event = self._event(artifact.parts, [artifact])
            event.id, event.partial = growing.event_id, True
            yield event

    def _whole(self, ids: Iterable[str]) -> Iterator[Event]:
        for artifact_id in ids:
            growing = self._growing.pop(artifact_id)
            self._sent_ids.add(artifact_id)
            if growing.parts:
                artifact = Artifact(artifact_id=artifact_id, parts=growing.parts)
                event = self._event(growing.parts, [artifact])
                event.id, event.partial = growing.event_id, False
                yield event

    def _know(
        self, task_id: str, context_id: str, news: Task | TaskStatusUpdateEvent | None = None
    ) -> None:
        self._task.id, self._task.context_id = task_id, context_id
        if news is not None:
            self._task.status.CopyFrom(news.status)
            if news.metadata:
                self._task.metadata.MergeFrom(news.metadata)

    def _news(self, status: TaskStatus) -> list[Part]:
        """Return the parts of a task's status message, unless they have been emitted before.

        A message that a task sends while working is a thought; if it comes again as an answer, a
        question or a failure, it counts as new.
        """
        message_id, is_thought = status.message.message_id, status.state in _AT_WORK
        if message_id in self._sent_ids or (is_thought and message_id in self._mused):
            return []
        if message_id:
            (self._mused if is_thought else self._sent_ids).add(message_id)
        return list(status.message.parts)

    def _status_event(self, parts: Sequence[Part], artifacts: Sequence[Artifact]) -> Event:
        """Create an event for what the task says in its current state."""
        state = self._task.status.state
        event = self._event(parts, artifacts)
        genai_parts = (event.content.parts if event.content else None) or []
        if state in _AT_WORK:
            for part in genai_parts:
                part.thought = True
        elif state in _ASKING and not event.long_running_tool_ids:
            event.long_running_tool_ids = _with_question(genai_parts, *_ASKING[state])
        elif state in _FAILED:
            code, what = _FAILED[state]
            reason = " ".join(part.text for part in genai_parts if part.text)
            event.error_code = code
            event.error_message = (
                f"The task {self._task.id!r} {what}: {reason or 'the other server gave no reason.'}"
            )
        return event

    def _event(self, parts: Sequence[Part], artifacts: Sequence[Artifact] = ()) -> Event:
        waiting: set[str] = set()
        genai_parts = [each for part in parts for each in self._genai_parts(part, waiting)]
        metadata: dict[str, Any] = {RESPONSE: _response_metadata(self._task, artifacts)}
        if self._task.id:
            metadata[TASK_ID] = self._task.id
        if self._task.context_id:
            metadata[CONTEXT_ID] = self._task.context_id
        return Event(
            author=self._author,
            branch=self._branch,
            content=types.Content(role="model", parts=genai_parts) if genai_parts else None,
            long_running_tool_ids=waiting or None,
            custom_metadata=metadata,
        )

    def _genai_parts(self, part: Part, waiting: set[str]) -> list[types.Part]:
        result = self._convert(part)
        several = result if isinstance(result, list) else [result] if result is not None else []
        if is_long_running(part):
            waiting.update(
                each.function_call.id
                for each in several
                if each.function_call and each.function_call.id
            )
        return several


def _response_metadata(task: Task, artifacts: Iterable[Artifact]) -> dict[str, Any]:
    """Return the task as JSON, with its artifacts but without the content that the event has."""
    task_json = as_json(task)
    for artifact in artifacts:
        artifact_json = as_json(artifact)
        artifact_json.pop("parts", None)
        task_json.setdefault("artifacts", []).append(artifact_json)
    return task_json


def _latest_reply_parts(task: Task) -> list[Part]:
    replies = [each for each in task.history if each.role == Role.ROLE_AGENT]
    return list(replies[-1].parts) if replies else []


def _with_question(parts: list[types.Part], name: str, argument: str) -> set[str] | None:
    """Replace the last text or data with a call that asks for an answer; return the call's id."""
    for index in range(len(parts) - 1, -1, -1):
        question = parts[index].text or _question_data(parts[index])
        if question:
            call = types.FunctionCall(id=new_uuid(), name=name, args={argument: question})
            parts[index] = types.Part(function_call=call)
            return {call.id} if call.id else None
    return None


def _question_data(part: types.Part) -> Any:
    data = data_of(part)
    return data.get("data", data) if isinstance(data, dict) else data


def _append(parts: list[Part], more: Iterable[Part]) -> None:
    """Add pieces of an artifact, and join texts that were split."""
    for part in more:
        last = parts[-1] if parts else None
        texts = last is not None and last.WhichOneof("content") == part.WhichOneof("content")
        if last is not None and texts and part.text and last.metadata == part.metadata:
            last.text += part.text
        else:
            parts.append(Part())
            parts[-1].CopyFrom(part)
