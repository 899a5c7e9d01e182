"""`EventActions`: what an event changes, and where it sends control (adk-runtime 1.3)."""

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, field_serializer
from pydantic.alias_generators import to_camel

from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.copying import blank, renewed
from devui.runtime.jsonable import jsonable
from devui.runtime.mistakes import ExplainedModel, brief, caller, without_json

# `ToolConfirmation`: a tool call that waits for a human's yes (adk-runtime 1.3, 8.5).
#
# Defined here because `EventActions` carries it; public as
# `devui.runtime.tools.tool_confirmation`.


class ToolConfirmation(BaseModel):
    """The question to a human, and later the answer."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    hint: str = ""
    """Why the confirmation is asked for."""
    confirmed: bool = False
    """The human's answer; False until there is one."""
    payload: Any | None = None
    """What the tool wants the human to fill in; must be JSON-able."""

    @classmethod
    def from_response_dict(cls, response: dict[str, Any]) -> Self:
        """Read a function response; `{"response": "<json>"}` holds the answer as JSON text."""
        if set(response) == {"response"}:
            return cls.model_validate(json.loads(response["response"]))
        return cls.model_validate(response)


# `UiWidget`: something a tool asks the user interface to draw (adk-runtime 1.3).


class UiWidget(BaseModel):
    """What to draw, and who can draw it."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    id: str
    """Unique within its event."""
    provider: str
    """Who renders it; `mcp` is the only known provider."""
    payload: dict[str, Any] = Field(default_factory=dict)
    """What the provider needs for rendering."""


logger = logging.getLogger(__name__)


_DELTAS = frozenset({"state_delta", "artifact_delta"})
_FLAGS = frozenset({"escalate", "skip_summarization", "end_of_agent"})
"""Fields that tools and callbacks assign; pydantic doesn't validate assignments."""


def serialized(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
    """Serialize a value with `handler`; what JSON can't represent is replaced with its repr."""
    try:
        return handler(value)
    except (ValueError, TypeError):
        what = without_json(value)
        logger.warning("%s in an event is not JSON-serializable; storing its repr.", what)
        return handler(jsonable(value))


class EventCompaction(BaseModel):
    """A summary that replaces the events between two moments."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    start_timestamp: float
    """Time of the first event covered, in unix seconds."""
    end_timestamp: float
    """Time of the last event covered, in unix seconds."""
    compacted_content: types.Content
    """The summary of these events."""


class EventActions(ExplainedModel):
    """The side effects and control signals of an event, committed together with it."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    skip_summarization: bool | None = None
    """Whether the tool's result is the answer, without the model putting it into words."""
    state_delta: dict[str, Any] = Field(default_factory=dict)
    """New values by key; the key's prefix names the scope. None removes the key."""
    artifact_delta: dict[str, int] = Field(default_factory=dict)
    """Saved artifacts: file name to new version."""
    transfer_to_agent: str | None = None
    """Name of the agent that takes over."""
    transfer_reason: str | None = None
    """The reason for the transfer, in the words of the agent that made it."""
    escalate: bool | None = None
    """Whether to end the surrounding loop."""
    requested_auth_configs: dict[str, AuthConfig] = Field(default_factory=dict)
    """Credentials that tool calls wait for, by function call id."""
    requested_tool_confirmations: dict[str, ToolConfirmation] = Field(default_factory=dict)
    """Confirmations that tool calls wait for, by function call id."""
    compaction: EventCompaction | None = None
    """The summary of earlier events that the event holds, if any."""
    end_of_agent: bool | None = None
    """Whether the agent has finished its run (resume seed)."""
    agent_state: dict[str, Any] | None = None
    """The agent's checkpoint (resume seed)."""
    rewind_before_invocation_id: str | None = None
    """The invocation that this event takes back, with everything after it."""
    route: bool | int | str | list[bool | int | str] | None = None
    """The edges of a workflow to follow."""
    render_ui_widgets: list[UiWidget] | None = None
    """What a client should show beside the event."""
    set_model_response: Any = None
    """The structured answer that a model gave through a tool."""

    if not TYPE_CHECKING:  # else mypy would accept any attribute name

        def __setattr__(self, name: str, value: Any) -> None:
            """Refuse values that could be stored but not read back; convert flags to booleans."""
            if name in _DELTAS and not isinstance(value, dict):
                if not isinstance(value, Mapping):
                    raise TypeError(f"EventActions.{name} is {brief(value)}; pass a dict.")
                value = dict(value)
            if name in _FLAGS and value is not None and not isinstance(value, bool):
                if isinstance(value, str) and value:
                    logger.warning(
                        "`%s` is %s, which counts as True%s.", name, brief(value), caller()
                    )
                value = bool(value)
            super().__setattr__(name, value)

    @classmethod
    def assemble(cls) -> Self:
        """Create empty actions without validation, because every event and context needs some."""
        none: Self = blank(cls)
        return renewed(
            none,
            state_delta={},
            artifact_delta={},
            requested_auth_configs={},
            requested_tool_confirmations={},
        )

    @field_serializer("state_delta", "agent_state", mode="wrap")
    def _serialise_safely(self, value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        """Replace a value that JSON can't represent with its repr, so that the event isn't lost."""
        return serialized(value, handler)
