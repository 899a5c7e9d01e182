"""Puts into practice what a person decided about what is held at a gate.

Each function raises ValueError or TypeError when the value does not fit; nothing is changed then.
"""

import json
from typing import Any

from google.genai import types
from pydantic import ValidationError

from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.wire.gates import EDITED, SKIPPED, Verdict

_KEPT = frozenset({"id", "invocation_id", "timestamp", "actions"})


def revise_event(event: Event, verdict: Verdict) -> None:
    """Make the event what the person wants, in place: its agent holds on to it."""
    wanted, author = Event.model_validate_json(verdict.value), event.author
    for name in Event.model_fields.keys() - _KEPT:
        setattr(event, name, getattr(wanted, name))
    event.author = wanted.author or author
    _revise_actions(event.actions, wanted.actions)
    mark(event, [verdict.mark] if verdict.mark else [])


def _revise_actions(actions: EventActions, wanted: EventActions) -> None:
    """In place too: contexts that are still open write to the same delta."""
    delta = actions.state_delta
    delta.clear()
    delta.update(wanted.state_delta)
    for name in EventActions.model_fields.keys() - {"state_delta"}:
        setattr(actions, name, getattr(wanted, name))


def mark(event: Event, marks: list[str]) -> None:
    """Say on the event that people had a hand in it; `marks` are JSON texts."""
    if marks:
        known = dict(event.custom_metadata or {})
        told = [*known.get(EDITED, []), *(json.loads(each) for each in marks)]
        event.custom_metadata = {**known, EDITED: told}


def revise_request(request: LlmRequest, verdict: Verdict, shown: str) -> LlmResponse | None:
    """Change the request, or answer in the model's place.

    `shown` is the request as the person saw it: what is the same there stays as it is, for not all
    of it has a form in JSON.
    """
    if verdict.action != "edit":
        return response(verdict)
    before = json.loads(shown)
    wanted = {**before, **_object(verdict.value)}
    settings = {**dict.fromkeys(before["config"]), **wanted["config"]}
    changed = {name: v for name, v in settings.items() if before["config"].get(name) != v}
    checked = types.GenerateContentConfig.model_validate(changed)
    contents = [types.Content.model_validate(each) for each in wanted["contents"]]
    if wanted["contents"] != before["contents"]:
        request.contents = contents
    if wanted.get("model") != before.get("model"):
        request.model = wanted["model"]
    for name in checked.model_fields_set:
        setattr(request.config, name, getattr(checked, name))
    return None


def response(verdict: Verdict) -> LlmResponse:
    """The answer that the person gives in the model's place; a text stands for one that says it."""
    value = json.loads(verdict.value)
    if isinstance(value, str):
        content = types.Content(role="model", parts=[types.Part(text=value)])
        return LlmResponse(content=content)
    return LlmResponse.model_validate(_object(verdict.value))


def revise_args(args: dict[str, Any], verdict: Verdict) -> Any:
    """Change the arguments in place, or return the result that the person gives."""
    if verdict.action != "edit":
        return result(verdict)
    wanted = _object(verdict.value)
    args.clear()
    args.update(wanted)
    return None


def result(verdict: Verdict) -> Any:
    """What stands for the tool's result; never None, which would mean that there is none."""
    value = json.loads(verdict.value)
    if verdict.action == "reject":
        return {"error": str(value)}
    if verdict.action == "skip":
        return dict(SKIPPED)
    return {"result": None} if value is None else value


def what_is_wrong(error: ValueError | TypeError) -> str:
    """Why a value does not fit, in one line for each field."""
    if not isinstance(error, ValidationError):
        return str(error)
    told = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    return "\n".join(f"{place}: {message}" if place else message for place, message in told)


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError(f"this has to be an object, not {text[:60]}")
    return value
