"""Events that the server did not make: what it reads of them has its type (R27, R53)."""

import time
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

LATEST: Final = 253_000_000_000.0
"""Seconds; what is later than the year 9986 has no date in Python."""


class EventPiece(BaseModel):
    """A piece of an event: what the server reads of it has its type, the rest is kept as it is."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class KeptCall(EventPiece):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class KeptResponse(EventPiece):
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class KeptPart(EventPiece):
    text: str | None = None
    thought: bool | None = None
    inline_data: dict[str, Any] | None = None
    file_data: dict[str, Any] | None = None
    executable_code: dict[str, Any] | None = None
    code_execution_result: dict[str, Any] | None = None
    function_call: KeptCall | None = None
    function_response: KeptResponse | None = None


class KeptContent(EventPiece):
    role: str | None = None
    parts: list[KeptPart] | None = None


class KeptActions(EventPiece):
    """What an event does besides saying something (adk-runtime 1.3)."""

    state_delta: dict[str, Any] = Field(default_factory=dict)
    artifact_delta: dict[str, int] | None = None
    transfer_to_agent: str | None = None
    rewind_before_invocation_id: str | None = None
    escalate: bool | None = None
    requested_tool_confirmations: dict[str, Any] | None = None
    requested_auth_configs: dict[str, Any] | None = None


class KeptUsage(EventPiece):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None


Says = TypeVar("Says", bound=BaseModel)
"""The model of a content."""


class EventShape(EventPiece, Generic[Says]):
    """An event; id and time are kept if given."""

    author: str
    id: str | None = None
    invocation_id: str = ""
    timestamp: float = Field(default_factory=time.time, ge=0, le=LATEST)
    branch: str | None = None
    content: Says | None = None
    actions: KeptActions = Field(default_factory=KeptActions)
    partial: bool | None = None
    final: bool | None = None
    error_code: str | None = None
    error_message: str | None = None
    long_running_tool_ids: list[str] | None = None
    custom_metadata: dict[str, Any] | None = None
    usage_metadata: KeptUsage | None = None


class _OfWorker(EventShape[KeptContent]):
    """An event of a worker, which has a name and knows when it was made.

    Its parts may be newer than this server: they are kept as they are.
    """

    id: str = Field(min_length=1)
    timestamp: float = Field(ge=0, le=LATEST)


def no_actions() -> dict[str, Any]:
    """The actions of an event that does nothing, in wire form."""
    names = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
    return {name: {} for name in names}


def misfit(event: object) -> str | None:
    """Where and why this is no event of a worker; None if it is one."""
    try:
        _OfWorker.model_validate(event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "".join(f"{step}." for step in first["loc"]).removesuffix(".")
        return f"{where}: {first['msg']}" if where else first["msg"]
    return None
