"""What a tool changes besides giving a result: the `EventActions` of its call."""

import json
from typing import Any

from devui.runtime.agents.context import Context
from devui.runtime.auth.auth_credential import AuthCredential
from devui.runtime.events.event_actions import EventActions
from devui.runtime.sessions.storable import read_delta
from devui.worker.jsontext import as_json

_BY_KEY = ("stateDelta", "requestedAuthConfigs", "requestedToolConfirmations", "artifactDelta")
"""Fields that are filled key by key: callbacks may have put something in before."""


def actions_now(context: Context) -> str:
    """The actions of a call as JSON text, to be compared later."""
    read_delta(context.actions.state_delta)
    return as_json(context.actions)


def changed_since(context: Context, before: str) -> str | None:
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
        known = then.get(name) or {}
        if name in changed:
            changed[name] = {k: v for k, v in changed[name].items() if known.get(k, _NONE) != v}
    for key, value in context.actions.state_delta.items():
        if isinstance(value, AuthCredential):
            changed.get("stateDelta", {}).pop(key, None)
    return json.dumps(changed)


def apply_effects(context: Context, effects: dict[str, Any]) -> None:
    """Set what the recorded tool set; files are saved apart."""
    told = {name: value for name, value in effects.items() if name != "artifactDelta"}
    actions = EventActions.model_validate_json(json.dumps(told))
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
