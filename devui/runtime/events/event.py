"""`Event`: the unit of exchange between agents, Runner and user (events seed)."""

import inspect
from typing import Any, ClassVar, NoReturn, Self

from google.genai import types
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_serializer,
    model_validator,
)
from pydantic.alias_generators import to_camel

from devui.runtime.copying import assemble, blank
from devui.runtime.events.event_actions import EventActions, serialized
from devui.runtime.mistakes import A_CONTENT, unknown_names, warn_of_ignored
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.platform.time import get_time
from devui.runtime.platform.uuid import new_uuid

# `NodeInfo`: where in a graph of nodes an event came from (adk-runtime 1.2).


class NodeInfo(BaseModel):
    """The place of the node that made an event.

    `path` joins segments with `/`; each is a name, or `name@run`: `wf@1/writer@2`.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        defer_build=True,
    )

    path: str = ""
    """Empty for events that no node made."""
    output_for: list[str] | None = None
    """Paths of other nodes whose output is also the event's `output`."""
    message_as_output: bool | None = None
    """Whether the event's content is the node's output."""

    @property
    def name(self) -> str:
        """Name of the node, without its run."""
        return self._segment(-1)[0]

    @property
    def run_id(self) -> str:
        """The run of the node; empty if the path doesn't name one."""
        return self._segment(-1)[1] or ""

    @property
    def parent_run_id(self) -> str | None:
        """The run of the enclosing node; None if there is none or the path doesn't name one."""
        return self._segment(-2)[1]

    def _segment(self, index: int) -> tuple[str, str | None]:
        segments = self.path.split("/")
        if len(segments) < -index:
            return "", None
        name, at, run = segments[index].rpartition("@")
        return (name, run) if at else (run, None)


_SHORTHANDS = frozenset({"message", "state", "route", "node_path"})
_A_CONTENT = 'content=types.Content(role="model", parts=[types.Part(text=...)])'
_INSTEAD = dict.fromkeys(("text", "parts", "role"), _A_CONTENT) | {
    name: f"actions=EventActions({name}=...)"
    for name in EventActions.model_fields.keys() - _SHORTHANDS
    if "_" in name or name == "escalate"  # others could be fields of a later google-adk's events
}
"""What to give instead of arguments that look valid but are ignored, as in google-adk."""


class _Field:
    """Replaces a property, so that an instance's own value of that name is visible."""

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise AttributeError("The field has no value.")


class Event(LlmResponse):
    """One entry of a session's history: a message, tool call, result, change, signal or error.

    The constructor also accepts shorthands (adk-runtime 1.2): `message=` for content (a text, a
    Part or a Content), `state=` for `actions.state_delta`, `route=` for `actions.route` and
    `node_path=` for `node_info.path`. JSON keys are in field order.
    """

    model_config = ConfigDict(
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
        defer_build=True,
    )

    invocation_id: str = ""
    """Shared by all events of one request-answer cycle."""
    author: str = ""
    """`user`, or the name of the agent."""
    actions: EventActions = Field(default_factory=EventActions)
    """What the event changes, and where it sends control."""
    output: Any = None
    """The value that a workflow node returned."""
    node_info: NodeInfo = Field(default_factory=NodeInfo)
    """The node that made the event."""
    long_running_tool_ids: set[str] | None = None
    """Ids of function calls that answer later."""
    branch: str | None = None
    """Path of agents, joined by dots; agents only see events of their own line."""
    isolation_scope: str | None = None
    """Marks the events of a delegated task; internal."""
    id: str = ""
    """Generated at construction if empty."""
    timestamp: float = Field(default_factory=get_time)
    """When the event was made, in unix seconds."""

    _wanted_content: ClassVar[str] = f'{A_CONTENT}; or pass `message="..."` for text from the user'

    @classmethod
    def __pydantic_init_subclass__(cls, **settings: Any) -> None:
        """Let fields of a subclass override properties with the same name, such as `message`."""
        super().__pydantic_init_subclass__(**settings)
        for name in cls.model_fields:
            if isinstance(inspect.getattr_static(cls, name, None), property):
                setattr(cls, name, _Field())

    @model_validator(mode="before")
    @classmethod
    def _expand_shorthands(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        if _FIELD_NAMES.issuperset(data):
            return data
        if not _SHORTHANDS.issuperset(data.keys() - _FIELD_NAMES):
            _tell_of_ignored(cls, data)
        return _expanded(data, _SHORTHANDS - cls.model_fields.keys())

    @field_serializer("output", mode="wrap")
    def _serialise_safely(self, value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        """Replace a value that JSON can't represent with its repr, so that the event isn't lost."""
        return serialized(value, handler)

    @field_serializer("long_running_tool_ids")
    def _sorted_ids(self, ids: set[str] | None) -> list[str] | None:
        # Sets have no order; the same event must always give the same JSON.
        return None if ids is None else sorted(ids)

    def model_post_init(self, _context: Any) -> None:
        """Give the event an id if it has none."""
        if not self.id:
            self.id = Event.new_id()

    @classmethod
    def assemble(cls, **values: Any) -> Self:
        """Create an event from values known to be valid, without validation, the main cost."""
        if "actions" not in values:
            values["actions"] = EventActions.assemble()
        if "id" not in values:
            values["id"] = new_uuid()
        if "node_info" not in values:
            values["node_info"] = NodeInfo()
        if "timestamp" not in values:
            values["timestamp"] = get_time()
        defaults: Self = blank(cls)
        return assemble(defaults, values)

    @property
    def message(self) -> types.Content | None:
        """An alias of `content`; strings and parts may be assigned."""
        return self.content

    @message.setter
    def message(self, value: Any) -> None:
        self.content = None if value is None else _as_content(value)

    @property
    def node_name(self) -> str:
        """Name of the workflow node; empty for an agent's checkpoints."""
        if self.actions.agent_state or self.actions.end_of_agent:
            return ""
        return self.node_info.name

    def is_final_response(self) -> bool:
        """Return whether this is a complete answer to show, rather than an intermediate step.

        In this order (events seed; adk-runtime 1.2): a tool result that is not summarized and a
        long-running call are final; so is an error without calls; otherwise, an event is final if
        it has no function call or response, is not partial and doesn't end in a code execution
        result.
        """
        if self.actions.skip_summarization or self.long_running_tool_ids:
            return True
        if self.partial or self.get_function_calls():
            return False
        if self.error_code:
            return True
        return not self.get_function_responses() and not self.has_trailing_code_execution_result()

    def has_trailing_code_execution_result(self) -> bool:
        """Return whether the last part is a code execution result, not yet read by the model."""
        parts = (self.content.parts if self.content else None) or []
        return bool(parts) and parts[-1].code_execution_result is not None

    @staticmethod
    def new_id() -> str:
        """Return a fresh event id."""
        return new_uuid()


_FIELD_NAMES = frozenset(Event.model_fields) | {to_camel(name) for name in Event.model_fields}


def _tell_of_ignored(kind: type[Event], data: dict[str, Any]) -> None:
    """Warn of ignored names that look like mistakes; a later google-adk may have the others."""
    for name, close in unknown_names(data, kind.model_fields):
        if name in _INSTEAD:
            warn_of_ignored(kind, name, f"; pass {_INSTEAD[name]}.")
        elif name not in _SHORTHANDS and close != ".":
            warn_of_ignored(kind, name, close)


def _expanded(data: dict[str, Any], shorthands: frozenset[str]) -> dict[str, Any]:
    """Return `data` with each shorthand moved to the field it stands for."""
    values = {name: data[name] for name in shorthands & data.keys() if data[name] is not None}
    data = {name: value for name, value in data.items() if name not in shorthands}
    if "message" in values:
        if data.get("content") is not None:
            raise ValueError("Pass either `message` or `content` to an Event, not both.")
        data["content"] = _as_content(values["message"])
    actions = {}
    if "state" in values:
        actions["state_delta"] = values["state"]
    if "route" in values:
        actions["route"] = values["route"]
    if actions:
        data["actions"] = _merge(data.get("actions"), actions)
    if "node_path" in values:
        key = "nodeInfo" if "nodeInfo" in data else "node_info"
        data[key] = _merge(data.get(key), {"path": values["node_path"]})
    return data


def _merge(value: Any, changes: dict[str, Any]) -> Any:
    """Apply `changes` to a model, a dict or nothing; leave other values to validation."""
    if isinstance(value, EventActions | NodeInfo):
        return value.model_copy(update=changes)
    if value is None or isinstance(value, dict):
        return {**(value or {}), **changes}
    return value


def _as_content(message: Any) -> types.Content:
    """Convert a Content, a Part, a string, a list of those, or the dict of one."""
    if isinstance(message, types.Content):
        return message
    if isinstance(message, dict):
        if message.keys() & {"parts", "role"}:
            return types.Content.model_validate(message)
        message = types.Part.model_validate(message)
    role = "model" if isinstance(message, types.Part) and message.function_call else "user"
    return types.Content(role=role, parts=types.UserContent(message).parts)
