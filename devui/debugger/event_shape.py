"""Events that the server did not make: what it reads of them has its type (R27, R53)."""

import json
import time
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

LATEST: Final = 253_000_000_000.0
"""Seconds; what is later than the year 9986 has no date in Python."""


class Kept(BaseModel):
    """A piece of an event: what the server reads of it has its type, the rest is kept as it is."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class KeptCall(Kept):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class KeptResponse(Kept):
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class KeptPart(Kept):
    text: str | None = None
    thought: bool | None = None
    inline_data: dict[str, Any] | None = None
    file_data: dict[str, Any] | None = None
    executable_code: dict[str, Any] | None = None
    code_execution_result: dict[str, Any] | None = None
    function_call: KeptCall | None = None
    function_response: KeptResponse | None = None


class KeptContent(Kept):
    role: str | None = None
    parts: list[KeptPart] | None = None


class KeptActions(Kept):
    """What an event does besides saying something (adk-runtime 1.3)."""

    state_delta: dict[str, Any] = Field(default_factory=dict)
    artifact_delta: dict[str, int] | None = None
    transfer_to_agent: str | None = None
    rewind_before_invocation_id: str | None = None
    escalate: bool | None = None
    requested_tool_confirmations: dict[str, Any] | None = None
    requested_auth_configs: dict[str, Any] | None = None


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
    custom_metadata: dict[str, Any] | None = None
    usage_metadata: KeptUsage | None = None


class InvalidEvent(ValueError):
    """What a worker sent as an event is none (R53)."""


class _OfWorker(FirstEvent):
    """An event of a worker, which has a name and knows when it was made."""

    id: str = Field(min_length=1)
    timestamp: float = Field(ge=0, le=LATEST)


_OF_WORKER: Final = TypeAdapter(_OfWorker)
_SAMPLE: Final = 400
"""Characters that are told of what is no event."""


def told_event(text: str) -> dict[str, Any]:
    """The event in what a worker has sent: an object whose members have their types.

    Whatever agent code does to the classes of its process, what is not so would be found in the
    middle of a page, or by the next server at its start. Raises InvalidEvent, with a sample of it.
    """
    try:
        event = json.loads(text, parse_constant=_no_number)
        _OF_WORKER.validate_python(event)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise InvalidEvent(_problem(f"{where}: {first['msg']}", text)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidEvent(_problem(str(error), text)) from None
    made: dict[str, Any] = event
    return made


def _problem(why: str, text: str) -> str:
    sample = text if len(text) <= _SAMPLE else f"{text[:_SAMPLE]}…"
    return f"the agent's event is not in ADK's wire form: {why.lstrip(': ')}. It begins: {sample}"


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")
