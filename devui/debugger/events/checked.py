"""Events as workers tell them: none is taken whose members have wrong types (R27, R53)."""

import json
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from devui.wire.events import Event

_SAMPLE: Final = 400
"""Characters that are told of what is no event."""


class InvalidEvent(ValueError):
    """What a worker sent as an event is none (R53)."""


@cache
def event_shape() -> ModuleType:
    """Load what knows the types of members, unless it is there; the first event would wait."""
    return import_module("devui.debugger.events.shape")


def told_event(text: str) -> Event:
    """The event in what a worker has sent: an object whose members have their types.

    Whatever agent code does to the classes of its process, what is not so would be found in the
    middle of a page, or by the next server at its start. Raises InvalidEvent, with a sample of it.
    """
    try:
        fields = _DECODER.decode(text)
        why = event_shape().misfit(fields)
    except (ValueError, RecursionError) as error:
        why = str(error)
    if why is not None:
        sample = text if len(text) <= _SAMPLE else f"{text[:_SAMPLE]}…"
        raise InvalidEvent(
            f"the agent's event isn't valid ADK JSON: {why}. It starts with: {sample}"
        )
    return Event.of(fields, text)


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a valid JSON number")


_DECODER: Final = json.JSONDecoder(parse_constant=refuse_constant)
