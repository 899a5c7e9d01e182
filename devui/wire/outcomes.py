"""The outcome of a run, read from its events in wire form, recorded or replayed.

A test made from a recording asserts the recorded results of these functions (decisions/0013).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from devui.wire.events import Event

_USER = "user"
TEMPORARY = "temp:"
"""The prefix of state that is discarded with its invocation."""


def last_text(events: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the last text by an agent, without thoughts; None if there is none."""
    text = None
    for event in _of_agents(events):
        texts = [part.text for part in event.parts if part.text and not part.is_thought]
        text = "".join(texts) if texts else text
    return text


def tool_calls(events: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and arguments of the calls that models and agents made, in order."""
    calls = (call for event in _of_agents(events) for call in event.calls)
    return [(call.name, dict(call.args)) for call in calls]


def agents_in_turn(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the authors of the events in order; consecutive events count once."""
    return [author for author, _ in groupby(event.author for event in _of_agents(events))]


def final_state(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the last value written to each state key, without `temp:` keys."""
    values: dict[str, Any] = {}
    for event in events:
        values |= Event.of(event).state_delta
    return {key: value for key, value in values.items() if not key.startswith(TEMPORARY)}


def _of_agents(events: Iterable[Mapping[str, Any]]) -> Iterator[Event]:
    return (event for event in map(Event.of, events) if event.author != _USER)
