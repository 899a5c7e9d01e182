"""Converts what leaves a worker to JSON: values, events, and the changes of a tool call."""

import json
from typing import Any

from pydantic_core import to_json

from devui.runtime.jsonable import with_reprs
from devui.runtime.sessions.storable import is_whole, make_storable, read_delta, read_iterators
from devui.worker.engines.kit import Context, Event, Kit


def as_json(value: Any) -> str:
    """Return the value as JSON text; the repr stands in for what JSON can't express."""
    try:
        return to_json(
            with_reprs(value),
            by_alias=True,
            exclude_none=True,
            bytes_mode="base64",
            inf_nan_mode="strings",
            serialize_unknown=True,
        ).decode()
    except ValueError:  # a lone surrogate, a cycle
        return json.dumps(repr(value))


def wire_text(event: Event) -> str:
    """Return the event in ADK's wire form; make the event storable first if necessary."""
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
"""Fields that are filled key by key, so that callbacks may have added some before."""


def actions_now(context: Context) -> str:
    """Return the actions of a call as JSON text, for a later comparison."""
    read_delta(context.actions.state_delta)
    return as_json(context.actions)


def changed_since(kit: Kit, context: Context, before: str) -> str | None:
    """Return what was set since then, as JSON text in wire form; None if nothing was.

    A login's credential in the invocation's state must not reach the disk (R64). A replay doesn't
    need it: the tool that uses the credential is answered from the recording.
    """
    now = actions_now(context)
    if now == before:
        return None
    then, actions = json.loads(before), json.loads(now)
    if not isinstance(then, dict) or not isinstance(actions, dict):
        return None  # a value without JSON form prevents the comparison
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
    """Set what the recorded tool set; its files are saved separately."""
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
