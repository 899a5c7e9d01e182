"""Events that do not come from a worker: what the server reads of them has its type (R27)."""

import time
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

LATEST: Final = 253_000_000_000.0
"""Seconds; what is later than the year 9986 has no date in Python."""


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
