"""Validates the events that workers send: every member must have the right type (R27, R53)."""

import json
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from devui.wire.events import Event

_SAMPLE: Final = 400
"""How many characters of an invalid event its error quotes."""


class InvalidEvent(ValueError):
    """A worker sent something that isn't a valid event (R53)."""


@cache
def event_shape() -> ModuleType:
    """Import the module with the types of members, so that the first event needn't wait for it."""
    return import_module("devui.debugger.events.shape")


def checked_event(text: str) -> Event:
    """Parse an event that a worker has sent, and check the types of its members.

    Agent code can do anything to the classes of its process. Without this check, the damage would
    surface in the middle of a page, or when the next server starts. Raises InvalidEvent, which
    quotes the beginning of the text.
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
