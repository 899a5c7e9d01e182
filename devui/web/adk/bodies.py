"""The request bodies of ADK's REST API, in camelCase or snake_case (adk-web 1.1)."""

import logging
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from devui.debugger.events.contents import Part
from devui.debugger.events.first_event import FirstEvent
from devui.web.adk.contents import Delta, Labels, Message, State, Strict
from devui.web.errors import Unprocessable

T = TypeVar("T")

_log = logging.getLogger("devui.api")


class Wire(BaseModel):
    """A JSON object in ADK's wire format; unknown members are ignored, as in ADK."""

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
    """A session as returned by `GET …/sessions/{session}` and as exported by `adk web`."""

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
"""The response header that names the ignored parts of the request."""
_NAME_LENGTH: Final = 60
"""The maximum length of a member's name in a warning."""
_NAMED: Final = 8
"""How many members are named; the rest are counted."""


def unused(kind: type[BaseModel], value: Any, *more: str) -> dict[str, str]:
    """Return the warning header for unknown members of a body, and log it.

    `more` are additional warnings; without any warning, the result is {}. google-adk silently
    ignores unknown members, so they aren't an error here either.
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
    """Log a warning and return the header with it."""
    _log.warning("%s", text)
    return {WARNING: text}


def _unknown(name: str, names: list[str]) -> str:
    """Return an unknown name in ASCII, for a header, with the closest known one if there is any."""
    near = get_close_matches(to_camel(name), names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return ascii(name[:_NAME_LENGTH]).strip("'") + hint


STATE = TypeAdapter(State)
"""The body of the deprecated `POST …/sessions/{session}`: the state itself."""


def parse(kind: type[T] | TypeAdapter[T], value: Any) -> T:
    """Validate a body. Raises Unprocessable with a list of errors in ADK's format."""
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    try:
        # Validates as FastAPI does, so that a value that isn't an object gets FastAPI's message.
        return adapter.validate_python(value, from_attributes=True)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False, include_input=False)
        raise Unprocessable(
            [{"type": e["type"], "loc": ["body", *e["loc"]], "msg": e["msg"]} for e in errors]
        ) from error
