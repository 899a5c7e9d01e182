"""Events as workers tell them: none is taken whose members have wrong types (R27, R53)."""

import json
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

_SAMPLE: Final = 400
"""Characters that are told of what is no event."""


class InvalidEvent(ValueError):
    """What a worker sent as an event is none (R53)."""


@cache
def event_shape() -> ModuleType:
    """Load what knows the types of members, unless it is there; the first event would wait."""
    return import_module("devui.debugger.event_shape")


def told_event(text: str) -> dict[str, Any]:
    """The event in what a worker has sent: an object whose members have their types.

    Whatever agent code does to the classes of its process, what is not so would be found in the
    middle of a page, or by the next server at its start. Raises InvalidEvent, with a sample of it.
    """
    try:
        event: dict[str, Any] = json.loads(text, parse_constant=_no_number)
        why = event_shape().misfit(event)
    except (ValueError, RecursionError) as error:
        why = str(error)
    if why is not None:
        sample = text if len(text) <= _SAMPLE else f"{text[:_SAMPLE]}…"
        raise InvalidEvent(
            f"the agent's event is not in ADK's wire form: {why}. It begins: {sample}"
        )
    return event


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")
