"""The request bodies of ADK's REST API: camelCase and snake_case alike (adk-web 1.1)."""

from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from devui.debugger.event_shape import FirstEvent
from devui.web.errors import Unprocessable

T = TypeVar("T")


class Wire(BaseModel):
    """A JSON object of ADK's wire form; unknown members are refused where ADK refuses them."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Strict(Wire):
    """The same for requests of our own, where a member that nobody knows is a mistake."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class Blob(Wire):
    """Inline bytes, base64 in either alphabet."""

    data: str
    mime_type: str | None = None
    display_name: str | None = None


class FunctionCall(Wire):
    """A call that the model asks for."""

    id: str | None = None
    name: str | None = None
    args: dict[str, JsonValue] | None = None


class FunctionResponse(Wire):
    """The answer to a call, a person's included."""

    id: str | None = None
    name: str | None = None
    response: dict[str, JsonValue] | None = None


class Part(Wire):
    """One part of a content; members this server does not look at pass through unchanged."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    text: str | None = None
    inline_data: Blob | None = None
    file_data: dict[str, JsonValue] | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None


class Content(Wire):
    """What the user says."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    role: str | None = None
    parts: list[Part] | None = None


class AnswerBody(Strict):
    """What is to become of a call of unknown outcome."""

    do: Literal["run", "result", "recorded", "fail", "wait"]
    result: JsonValue = None
    reason: str = ""


class RunBody(Wire):
    """`POST /run` and `/run_sse` (adk-web 1.5)."""

    app_name: str | None = None
    user_id: str
    session_id: str
    new_message: Content | None = None
    streaming: bool = False
    state_delta: dict[str, JsonValue] | None = None
    function_call_event_id: str | None = None
    invocation_id: str | None = None


class SessionBody(Wire):
    """`POST …/sessions` (adk-web 1.3)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    session_id: str | None = None
    state: dict[str, JsonValue] | None = None
    events: list[FirstEvent] | None = None
    options: dict[str, JsonValue] | None = None


class PatchBody(Wire):
    """`PATCH …/sessions/{session}`."""

    state_delta: dict[str, JsonValue] = Field(default_factory=dict)


class ArtifactBody(Wire):
    """`POST …/sessions/{session}/artifacts` (adk-web 1.4)."""

    filename: str
    artifact: Part
    custom_metadata: dict[str, JsonValue] | None = None


STATE = TypeAdapter(dict[str, JsonValue])
"""The body of the deprecated `POST …/sessions/{session}`: the state itself."""


def parse(kind: type[T] | TypeAdapter[T], value: Any) -> T:
    """Validate a body; raises Unprocessable with ADK's list of what is wrong."""
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        told = error.errors(include_url=False, include_context=False, include_input=False)
        raise Unprocessable(
            [{"type": e["type"], "loc": ["body", *e["loc"]], "msg": e["msg"]} for e in told]
        ) from error
