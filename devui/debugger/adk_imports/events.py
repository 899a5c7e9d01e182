"""Converts events as stored by google-adk to ADK's wire form."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic.alias_generators import to_camel

from devui.debugger.adk_imports.pickled import UnsupportedPickle, read
from devui.debugger.adk_imports.sources import Notes, Unreadable
from devui.debugger.events.shape import no_actions

_OPAQUE: Final = frozenset(
    {
        *("args", "response", "state_delta", "artifact_delta", "custom_metadata", "agent_state"),
        *("output", "payload", "route", "set_model_response", "scopes", "additional_headers"),
    }
)
"""Members whose value belongs to the agent; names in it are left unchanged."""
_NAMED: Final = frozenset({"requested_auth_configs", "requested_tool_confirmations"})
"""Members that map call ids to ADK's own objects."""
_JSON: Final = (
    *("content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata"),
    *("input_transcription", "output_transcription"),
)
_PLAIN: Final = ("author", "branch", "error_code", "error_message")
_SWITCHES: Final = ("partial", "turn_complete", "interrupted")
_EPOCH: Final = dt.datetime(1970, 1, 1)  # UTC, like the times that it is subtracted from


def wire_event(row: Mapping[str, Any], place: str, notes: Notes) -> dict[str, Any]:
    """Return the event in a row of the table `events`. Raises Unreadable, with the row's place."""
    fields = _of_columns(row, place, notes) if "actions" in row else _whole(row, place, notes)
    event = {name: value for name, value in camel(fields).items() if value is not None}
    event["id"], event["invocationId"] = str(row["id"]), str(row["invocation_id"] or "")
    if not isinstance(event.get("timestamp"), int | float):
        event["timestamp"] = seconds(row["timestamp"], f"{place}, column timestamp")
    actions = event.get("actions")
    actions = actions if isinstance(actions, dict) else {}
    event["actions"] = {**no_actions(), **actions}
    delta = event["actions"]["stateDelta"]
    if isinstance(delta, dict):
        lasting = {key: value for key, value in delta.items() if not key.startswith("temp:")}
        event["actions"]["stateDelta"] = lasting
    return event


def camel(value: Any) -> Any:
    """Return a value with ADK's own names in camelCase, as on the wire."""
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    members = {}
    for name, each in value.items():
        snake = _SNAKE.get(name, name)
        if snake in _OPAQUE:
            members[to_camel(snake)] = each
        elif snake in _NAMED and isinstance(each, dict):
            members[to_camel(snake)] = {key: camel(inner) for key, inner in each.items()}
        else:
            members[to_camel(name) if "_" in name else name] = camel(each)
    return members


_SNAKE: Final = {to_camel(name): name for name in (*_OPAQUE, *_NAMED)}


def json_of(value: Any, place: str, notes: Notes) -> Any:
    """Parse the JSON in a column, unless the database already has. Raises Unreadable."""
    if not isinstance(value, str | bytes):
        return value

    def constant(name: str) -> None:
        notes.add(f"{place}: {name} isn't a valid JSON number; it was replaced by null")

    try:
        return json.loads(value, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{place}: invalid JSON: {error}") from error


def seconds(value: Any, place: str) -> float:
    """Return a time as seconds since the epoch; without a zone it is UTC, as google-adk stores it.

    Raises Unreadable.
    """
    if isinstance(value, int | float):
        return float(value)
    try:
        moment = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
        if moment.tzinfo is not None:
            return float(moment.timestamp())
        return (moment - _EPOCH).total_seconds()
    except (ValueError, AttributeError, TypeError, OverflowError):
        raise Unreadable(f"{place}: {value!r} isn't a valid time") from None


def _whole(row: Mapping[str, Any], place: str, notes: Notes) -> dict[str, Any]:
    place = f"{place}, column event_data"
    event = json_of(row["event_data"], place, notes)
    if event is None:
        return {"author": "user"}
    if not isinstance(event, dict):
        raise Unreadable(f"{place}: expected an event, not {type(event).__name__}")
    return event


def _of_columns(row: Mapping[str, Any], place: str, notes: Notes) -> dict[str, Any]:
    """Return an event of the first schema, which has a column for each member."""
    event = {name: row.get(name) for name in _PLAIN}
    event |= {name: None if row.get(name) is None else bool(row[name]) for name in _SWITCHES}
    event |= {name: json_of(row.get(name), f"{place}, column {name}", notes) for name in _JSON}
    ids = json_of(row.get("long_running_tool_ids_json"), f"{place}, long_running_tool_ids", notes)
    event["long_running_tool_ids"] = ids or None
    data = row["actions"]
    if data is None:
        return event

    def left_out(where: str, what: str) -> None:
        notes.add(f"{place}: actions.{where} was left out because it is {what}")

    try:
        event["actions"] = read(bytes(data), left_out)
    except (UnsupportedPickle, TypeError) as error:
        notes.add(f"{place}: its actions were left out because the pickle can't be read: {error}")
    return event
