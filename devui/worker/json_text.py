"""What leaves a worker as JSON: values, events, and what a tool call changes."""

import json
from typing import Any

from pydantic_core import to_json

from devui.runtime.jsonable import with_reprs
from devui.runtime.sessions.storable import is_whole, make_storable, read_delta, read_iterators
from devui.worker.engines.kit import Context, Event, Kit


def as_json(value: Any) -> str:
    """The value as JSON text; what JSON cannot hold is shown by its repr."""
    try:
        return to_json(
            with_reprs(value),
            by_alias=True,
            exclude_none=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except ValueError:  # half a surrogate pair, a circle
        return json.dumps(repr(value))


def wire_text(event: Event) -> str:
    """The event in ADK's wire form; one that has none is made to have one."""
    try:
        read_iterators(event)
        text = event.model_dump_json(by_alias=True, exclude_none=True)
    except (ValueError, RecursionError):
        text = None
    if text is not None and is_whole(text):
        return text
    make_storable(event)
    return event.model_dump_json(by_alias=True, exclude_none=True)


_BY_KEY = ("stateDelta", "requestedAuthConfigs", "requestedToolConfirmations", "artifactDelta")
"""Fields that are filled key by key: callbacks may have put something in before."""


def actions_now(context: Context) -> str:
    """The actions of a call as JSON text, to be compared later."""
    read_delta(context.actions.state_delta)
    return as_json(context.actions)


def changed_since(kit: Kit, context: Context, before: str) -> str | None:
    """What was set since, as JSON text in wire form; None if nothing was.

    A credential that a login has put into the state of the invocation reaches no disk (R64), and a
    replay needs none: the tool that it is for is answered for.
    """
    now = actions_now(context)
    if now == before:
        return None
    then, actions = json.loads(before), json.loads(now)
    if not isinstance(then, dict) or not isinstance(actions, dict):
        return None  # a value that has no JSON form stood in the way
    changed = {name: value for name, value in actions.items() if value != then.get(name)}
    for name in _BY_KEY:
        previous = then.get(name) or {}
        if name in changed:
            changed[name] = {k: v for k, v in changed[name].items() if previous.get(k, _NONE) != v}
    for key, value in context.actions.state_delta.items():
        if isinstance(value, kit.auth_credential):
            changed.get("stateDelta", {}).pop(key, None)
    return json.dumps(changed)


def apply_effects(kit: Kit, context: Context, effects: dict[str, Any]) -> None:
    """Set what the recorded tool set; files are saved apart."""
    fields = {name: value for name, value in effects.items() if name != "artifactDelta"}
    actions = kit.event_actions.model_validate_json(json.dumps(fields))
    for key, value in actions.state_delta.items():
        context.state[key] = value
    own = context.actions
    own.requested_auth_configs.update(actions.requested_auth_configs)
    own.requested_tool_confirmations.update(actions.requested_tool_confirmations)
    for name in actions.model_fields_set - _FILLED:
        setattr(own, name, getattr(actions, name))


_NONE = object()
_FILLED = {
    "state_delta",
    "artifact_delta",
    "requested_auth_configs",
    "requested_tool_confirmations",
}
