"""The request bodies of ADK's REST API: camelCase and snake_case alike (adk-web 1.1)."""

import logging
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from devui.debugger.events.contents import Part
from devui.debugger.events.from_outside import FirstEvent
from devui.web.adk.contents import Delta, Labels, Message, State, Strict
from devui.web.errors import Unprocessable

T = TypeVar("T")

_log = logging.getLogger("devui.api")


class Wire(BaseModel):
    """A JSON object of ADK's wire form, whose unknown members ADK ignores."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class AnswerBody(Strict):
    """The decision for a call whose outcome is unknown."""

    do: Literal["run", "result", "recorded", "fail", "wait"]
    result: Any = None
    reason: str = ""


class RunBody(Wire):
    """`POST /run` and `/run_sse`."""

    app_name: str | None = None
    user_id: str
    session_id: str
    new_message: Message | None = None
    streaming: bool = False
    state_delta: Delta | None = None
    function_call_event_id: str | None = None
    invocation_id: str | None = None
    custom_metadata: Labels | None = None
    service_tier: str | None = None


class SessionBody(Wire):
    """`POST …/sessions` (adk-web 1.3)."""

    session_id: str | None = None
    state: State | None = None
    events: list[FirstEvent] | None = None
    options: dict[str, Any] | None = None


class SessionFile(Wire):
    """A session as `GET …/sessions/{session}` answers, and as `adk web` exports it."""

    id: str
    app_name: str
    user_id: str
    state: State = Field(default_factory=dict)
    events: list[FirstEvent]


class PatchBody(Wire):
    """`PATCH …/sessions/{session}`."""

    state_delta: State


class MemoryBody(Wire):
    """`PATCH …/memory`."""

    session_id: str


class ArtifactBody(Wire):
    """`POST …/sessions/{session}/artifacts`."""

    filename: str
    artifact: Part
    custom_metadata: dict[str, Any] | None = None


WARNING: Final = "X-Devui-Warning"
"""The header of an answer that names what of the request was not used."""
_NAME_LENGTH: Final = 60
"""Characters of a member's name that are repeated."""
_NAMED: Final = 8
"""Members that are named; of more the number is told."""


def unused(kind: type[BaseModel], value: Any, *more: str) -> dict[str, str]:
    """The header, and a line in the log, about members of a body that nobody reads, and what is
    said besides; {} if there is nothing.

    google-adk takes them without a word, so they are no error here either.
    """
    fields = {name: to_camel(name) for name in kind.model_fields}
    spare = [each for each in value if each not in {*fields, *fields.values()}]
    notes = [*more]
    if spare:
        names = "; ".join(_unknown(each, list(fields.values())) for each in spare[:_NAMED])
        rest = f"; and {len(spare) - _NAMED} more" if len(spare) > _NAMED else ""
        notes.append(f"ignored unknown fields: {names}{rest}")
    return warned("; ".join(notes)) if notes else {}


def warned(text: str) -> dict[str, str]:
    """The header that says this, which the log says, too."""
    _log.warning("%s", text)
    return {WARNING: text}


def _unknown(name: str, names: list[str]) -> str:
    """The name in ASCII, as headers have it, and the one that may be meant."""
    near = get_close_matches(to_camel(name), names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return ascii(name[:_NAME_LENGTH]).strip("'") + hint


STATE = TypeAdapter(State)
"""The body of the deprecated `POST …/sessions/{session}`: the state itself."""


def parse(kind: type[T] | TypeAdapter[T], value: Any) -> T:
    """Validate a body; raises Unprocessable with ADK's list of what is wrong."""
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    try:
        # As FastAPI reads bodies: a value that is no object is refused in its words.
        return adapter.validate_python(value, from_attributes=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        raise Unprocessable(
            [{"type": e["type"], "loc": ["body", *e["loc"]], "msg": e["msg"]} for e in errors]
        ) from error
