"""Type checks for events from outside the server (R27, R53)."""

import time
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

LATEST: Final = 253_000_000_000.0
"""The latest timestamp, in seconds, near the last year that Python's dates can express."""


class EventPiece(BaseModel):
    """A part of an event: the members that the server reads are type-checked, the rest is kept."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class CallShape(EventPiece):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class ResponseShape(EventPiece):
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class PartShape(EventPiece):
    text: str | None = None
    thought: bool | None = None
    inline_data: dict[str, Any] | None = None
    file_data: dict[str, Any] | None = None
    executable_code: dict[str, Any] | None = None
    code_execution_result: dict[str, Any] | None = None
    function_call: CallShape | None = None
    function_response: ResponseShape | None = None


class ContentShape(EventPiece):
    role: str | None = None
    parts: list[PartShape] | None = None


class ActionsShape(EventPiece):
    """The actions of an event (adk-runtime 1.3)."""

    state_delta: dict[str, Any] = Field(default_factory=dict)
    artifact_delta: dict[str, int] | None = None
    transfer_to_agent: str | None = None
    rewind_before_invocation_id: str | None = None
    escalate: bool | None = None
    requested_tool_confirmations: dict[str, Any] | None = None
    requested_auth_configs: dict[str, Any] | None = None


class UsageShape(EventPiece):
    prompt_token_count: int | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    total_token_count: int | None = None


Says = TypeVar("Says", bound=BaseModel)
"""The model of an event's content."""


class EventShape(EventPiece, Generic[Says]):
    """An event; a given id and time are kept."""

    author: str
    id: str | None = None
    invocation_id: str = ""
    timestamp: float = Field(default_factory=time.time, ge=0, le=LATEST)
    branch: str | None = None
    content: Says | None = None
    actions: ActionsShape = Field(default_factory=ActionsShape)
    partial: bool | None = None
    final: bool | None = None
    error_code: str | None = None
    error_message: str | None = None
    long_running_tool_ids: list[str] | None = None
    custom_metadata: dict[str, Any] | None = None
    usage_metadata: UsageShape | None = None


class _WorkerEvent(EventShape[ContentShape]):
    """An event from a worker: it must have an id and a timestamp.

    Its parts may be of a kind newer than this server; unknown members are kept as they are.
    """

    id: str = Field(min_length=1)
    timestamp: float = Field(ge=0, le=LATEST)


def no_actions() -> dict[str, Any]:
    """Return empty actions, in wire form."""
    names = ("stateDelta", "artifactDelta", "requestedAuthConfigs", "requestedToolConfirmations")
    return {name: {} for name in names}


def misfit(event: object) -> str | None:
    """Return where and why this isn't a valid event of a worker; None if it is one."""
    try:
        _WorkerEvent.model_validate(event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "".join(f"{step}." for step in first["loc"]).removesuffix(".")
        return f"{where}: {first['msg']}" if where else first["msg"]
    return None
