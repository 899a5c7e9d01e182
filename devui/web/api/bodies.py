"""The request bodies of ADK's REST API: camelCase and snake_case alike (adk-web 1.1)."""

import time
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from devui.web.errors import Unprocessable

LATEST: Final = 253_000_000_000.0
"""Seconds; what is later than the year 9986 has no date in Python."""

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

    do: Literal["run", "result", "recorded", "fail"]
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


class Kept(BaseModel):
    """A piece of an event: what the server reads of it has its type, the rest is kept as it is."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class KeptCall(Kept):
    id: str | None = None
    name: str | None = None
    args: dict[str, JsonValue] | None = None


class KeptResponse(Kept):
    id: str | None = None
    name: str | None = None
    response: dict[str, JsonValue] | None = None


class KeptPart(Kept):
    text: str | None = None
    thought: bool | None = None
    inline_data: dict[str, JsonValue] | None = None
    file_data: dict[str, JsonValue] | None = None
    executable_code: dict[str, JsonValue] | None = None
    code_execution_result: dict[str, JsonValue] | None = None
    function_call: KeptCall | None = None
    function_response: KeptResponse | None = None


class KeptContent(Kept):
    role: str | None = None
    parts: list[KeptPart] | None = None


class KeptActions(Kept):
    """What an event does besides saying something (adk-runtime 1.3)."""

    state_delta: dict[str, JsonValue] = Field(default_factory=dict)
    artifact_delta: dict[str, int] | None = None
    transfer_to_agent: str | None = None
    escalate: bool | None = None
    requested_tool_confirmations: dict[str, JsonValue] | None = None
    requested_auth_configs: dict[str, JsonValue] | None = None


class KeptUsage(Kept):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None


class FirstEvent(Kept):
    """An event that a session is created with; id and time are kept if given."""

    author: str
    id: str | None = None
    invocation_id: str = ""
    timestamp: float = Field(default_factory=time.time, ge=0, le=LATEST)
    branch: str | None = None
    content: KeptContent | None = None
    actions: KeptActions = Field(default_factory=KeptActions)
    partial: bool | None = None
    final: bool | None = None
    error_code: str | None = None
    error_message: str | None = None
    long_running_tool_ids: list[str] | None = None
    custom_metadata: dict[str, JsonValue] | None = None
    usage_metadata: KeptUsage | None = None


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
