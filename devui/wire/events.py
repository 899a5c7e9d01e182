"""Events in ADK's wire form; only this module reads them.

An `Event` is created where text enters: from a worker, the journal or a bundle. It keeps that text
unchanged and parses it on first access, so an event that is only passed on costs nothing. Whatever
the text holds, each attribute has its declared type: a member that is missing, or isn't what ADK
specifies, reads as absent.
"""

import json
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from functools import cached_property
from typing import Any, Final, NoReturn, Self, TypeAlias

Fields: TypeAlias = Mapping[str, Any]
"""A JSON object."""

NOTHING: Final[Fields] = {}

USER: Final = "user"
"""The author of a person's messages."""


def fields_in(value: object) -> Fields:
    """Return the value if it is a JSON object, else an empty one."""
    # `isinstance` takes ten times as long for an abstract class, and this is called very often.
    return value if type(value) is dict or isinstance(value, Mapping) else NOTHING


def text_in(value: object) -> str:
    """Return the value as a text; "" if it is absent or empty."""
    return str(value) if value else ""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call requested by a model or an agent."""

    id: str | None
    name: str
    args: Fields
    fields: Fields

    @classmethod
    def of(cls, fields: Fields) -> "Call":
        """Read a `functionCall`."""
        args = fields_in(fields.get("args"))
        return cls(fields.get("id"), text_in(fields.get("name")), args, fields)

    @property
    def original(self) -> "Call | None":
        """The call that this one requests a confirmation for."""
        fields = fields_in(self.args.get("originalFunctionCall"))
        return Call.of(fields) if fields else None


@dataclass(frozen=True, slots=True)
class Response:
    """The response to a call, from a tool or from a person in its place."""

    id: str | None
    name: str
    value: Any
    """An object, in ADK's form; None if nothing was recorded."""
    fields: Fields

    @classmethod
    def of(cls, fields: Fields) -> "Response":
        """Read a `functionResponse`."""
        return cls(fields.get("id"), text_in(fields.get("name")), fields.get("response"), fields)

    @property
    def result(self) -> Fields:
        """The value if it is an object, else an empty one."""
        return fields_in(self.value)

    @property
    def is_error(self) -> bool:
        """Whether the tool answered with a non-empty `error`."""
        return bool(self.result.get("error"))

    @property
    def parts(self) -> "tuple[Part, ...]":
        """The files that it includes."""
        return _parts(self.fields)


@dataclass(frozen=True)
class Part:
    """One part of a message's content."""

    fields: Fields

    @property
    def text(self) -> str:
        """The text or thought; "" for other parts."""
        return text_in(self.fields.get("text"))

    @property
    def is_thought(self) -> bool:
        """Whether the text is the model's thinking."""
        return bool(self.fields.get("thought"))

    @cached_property
    def call(self) -> Call | None:
        """The tool call, if the part is one."""
        fields = fields_in(self.fields.get("functionCall"))
        return Call.of(fields) if fields else None

    @cached_property
    def response(self) -> Response | None:
        """The tool's result, if the part is one."""
        fields = fields_in(self.fields.get("functionResponse"))
        return Response.of(fields) if fields else None

    @property
    def code(self) -> Fields:
        """Code that a model wrote."""
        return fields_in(self.fields.get("executableCode"))

    @property
    def code_result(self) -> Fields:
        """The result of executing the code."""
        return fields_in(self.fields.get("codeExecutionResult"))

    @property
    def inline_data(self) -> Fields:
        """A file whose bytes are in the event."""
        return fields_in(self.fields.get("inlineData"))

    @property
    def file_data(self) -> Fields:
        """A reference to a file elsewhere."""
        return fields_in(self.fields.get("fileData"))

    @property
    def is_text_alone(self) -> bool:
        """Whether it has text and nothing else."""
        return set(self.fields) == {"text"}


@dataclass(frozen=True)
class Content:
    """A message: a role and its parts."""

    fields: Fields

    @property
    def role(self) -> str:
        """`user` or `model`, from the model's point of view; "" if missing."""
        return text_in(self.fields.get("role"))

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in order."""
        return _parts(self.fields)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls among the parts."""
        return tuple(part.call for part in self.parts if part.call is not None)

    @property
    def responses(self) -> tuple[Response, ...]:
        """The tool results among the parts."""
        return tuple(part.response for part in self.parts if part.response is not None)

    @property
    def text(self) -> str:
        """The texts, one per line, including thoughts."""
        return "\n".join(part.text for part in self.parts if part.text)


class Event:
    """One event, immutable; equal to another if their texts are equal."""

    def __init__(self, text: str) -> None:
        self.__dict__["text"] = text

    @classmethod
    def of(cls, fields: Fields, text: str | None = None) -> Self:
        """Wrap parsed fields; `text` is their source, if they were parsed from text."""
        event = cls.__new__(cls)
        event.__dict__["fields"] = fields
        if text is not None:
            event.__dict__["text"] = text
        return event

    @cached_property
    def text(self) -> str:
        """The JSON text, exactly as received."""
        return json.dumps(self.fields)

    @cached_property
    def fields(self) -> Fields:
        """The parsed event. Raises `ValueError` if the text isn't JSON."""
        return fields_in(json.loads(self.text))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def read(self) -> Self:
        """Parse the event now and return it, for example in a thread if it may be large.

        Raises `ValueError` if the text isn't JSON.
        """
        _ = self.parts
        return self

    @property
    def is_damaged(self) -> bool:
        """Whether it stands in for an event that the journal can no longer read."""
        return False

    @property
    def id(self) -> str:
        return text_in(self.fields.get("id"))

    @property
    def invocation_id(self) -> str:
        return text_in(self.fields.get("invocationId"))

    @property
    def author(self) -> str:
        """The agent's name, or `user`."""
        return text_in(self.fields.get("author"))

    @property
    def branch(self) -> str | None:
        return self.fields.get("branch")

    @property
    def timestamp(self) -> float:
        """Seconds since the epoch."""
        return float(self.fields.get("timestamp") or 0.0)

    @cached_property
    def content(self) -> Content:
        """The event's message."""
        return Content(fields_in(self.fields.get("content")))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the content, in order."""
        return self.content.parts

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls, in order."""
        return self.content.calls

    @cached_property
    def responses(self) -> tuple[Response, ...]:
        """The tool results, in order."""
        return self.content.responses

    @cached_property
    def actions(self) -> Fields:
        """What the event does beyond its content, such as changing state."""
        return fields_in(self.fields.get("actions"))

    @property
    def state_delta(self) -> Fields:
        """The state keys that it sets, with their prefixes."""
        return fields_in(self.actions.get("stateDelta"))

    @property
    def artifact_delta(self) -> Fields:
        """The versions of the artifacts that it saves, by name."""
        return fields_in(self.actions.get("artifactDelta"))

    @property
    def transfer_to(self) -> str | None:
        """The agent that takes over."""
        return self.actions.get("transferToAgent")

    @property
    def escalates(self) -> bool:
        """Whether it ends a loop."""
        return self.actions.get("escalate") is True

    @property
    def rewinds_before(self) -> str | None:
        """The first invocation that it rewinds."""
        return self.actions.get("rewindBeforeInvocationId")

    @property
    def confirmations(self) -> Fields:
        """The confirmations that tools request, by the ids of their calls."""
        return fields_in(self.actions.get("requestedToolConfirmations"))

    @property
    def credentials(self) -> Fields:
        """The credentials that tools request, by the ids of their calls."""
        return fields_in(self.actions.get("requestedAuthConfigs"))

    @property
    def is_partial(self) -> bool:
        """Whether it is a fragment of a streamed answer."""
        return self.fields.get("partial") is True

    @property
    def long_running_ids(self) -> frozenset[str]:
        """The ids of calls that are answered later."""
        ids = self.fields.get("longRunningToolIds")
        return frozenset(ids) if isinstance(ids, list) else frozenset()

    @property
    def error_code(self) -> str | None:
        return self.fields.get("errorCode")

    @property
    def error_message(self) -> str | None:
        return self.fields.get("errorMessage")

    @property
    def finish_reason(self) -> str:
        """Why the model stopped; "" if unknown."""
        return text_in(self.fields.get("finishReason"))

    @property
    def usage(self) -> Fields:
        """`usageMetadata`: the token counts."""
        return fields_in(self.fields.get("usageMetadata"))

    @property
    def model(self) -> str:
        """The model's name and version, as reported by its provider."""
        return text_in(self.fields.get("modelVersion"))

    @property
    def metadata(self) -> Fields:
        """`customMetadata`: annotations by the runtime, the debugger and agents."""
        return fields_in(self.fields.get("customMetadata"))

    @property
    def node_path(self) -> str:
        """The path of the workflow node that produced it."""
        return text_in(fields_in(self.fields.get("nodeInfo")).get("path"))

    @property
    def output(self) -> Any:
        """The output of a workflow node; None if there is none."""
        return self.fields.get("output")

    @property
    def is_final(self) -> bool:
        """`is_final_response()`, for an event whose sender doesn't report it (adk-runtime 1.2)."""
        if self.actions.get("skipSummarization") or self.fields.get("longRunningToolIds"):
            return True
        if self.fields.get("partial") or self.calls:
            return False
        if self.error_code:
            return True
        if self.responses:
            return False
        return not (self.parts and self.parts[-1].code_result)


class DamagedEvent(Event):
    """A placeholder for an event that the journal can no longer read."""

    @property
    def is_damaged(self) -> bool:
        return True


def _parts(owner: Fields) -> tuple[Part, ...]:
    parts = owner.get("parts")
    return tuple(Part(fields_in(part)) for part in parts) if isinstance(parts, list) else ()
