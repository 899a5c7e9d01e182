"""Events whose values are nested deeper than what reads JSON goes (devui's own).

pydantic writes 255 levels and reads 200. An event between those is in the history for good, and a
session must not become unreadable because of it. So what is deep down is put aside, and back.
"""

import json
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from devui.runtime.events.event import Event

_DEEPEST = 100
"""Deeper than the fields of an event, whose validation sees all of them."""


def read_deep_event(text: str | bytes) -> Event:
    """What `Event.model_validate_json` would give if it read any depth.

    Raises ValidationError as that does.
    """
    aside: dict[str, Any] = {}
    shallow = _without_deep(json.loads(text), aside)
    event = Event.model_validate_json(json.dumps(shallow))
    _put_back(event, aside)
    return event


def _without_deep(value: Any, aside: dict[str, Any], depth: int = 0) -> Any:
    """The value with texts that nobody else has in the place of what is too deep."""
    if not isinstance(value, dict | list):
        return value
    if depth == _DEEPEST:
        name = uuid4().hex
        aside[name] = value
        return name
    if isinstance(value, dict):
        return {key: _without_deep(each, aside, depth + 1) for key, each in value.items()}
    return [_without_deep(each, aside, depth + 1) for each in value]


def _put_back(value: Any, aside: dict[str, Any]) -> None:
    """Exchange what stands for containers by those, in place."""
    if isinstance(value, BaseModel):
        value = vars(value)
    if not isinstance(value, dict | list):
        return
    for key, each in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(each, str) and each in aside:
            value[key] = aside[each]
        else:
            _put_back(each, aside)
