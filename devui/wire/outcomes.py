"""What a run came to, read off its events in wire form: the same of a recording and of its replay.

A test that is made of a recording says what these functions gave then (decisions/0013).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from devui.wire.events import Event

_USER = "user"
TEMPORARY = "temp:"
"""The prefix of state that ends with its invocation."""


def last_text(events: Iterable[Mapping[str, Any]]) -> str | None:
    """What agents said last, thoughts aside; None if nothing was said."""
    text = None
    for event in _of_agents(events):
        texts = [part.text for part in event.parts if part.text and not part.is_thought]
        text = "".join(texts) if texts else text
    return text


def tool_calls(events: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that models and agents asked for, in order: names and arguments."""
    calls = (call for event in _of_agents(events) for call in event.calls)
    return [(call.name, dict(call.args)) for call in calls]


def agents_in_turn(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Whose events they are; one that goes on is named once."""
    return [author for author, _ in groupby(event.author for event in _of_agents(events))]


def final_state(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The last value of each state key that was written, with its prefix; `temp:` aside."""
    values: dict[str, Any] = {}
    for event in events:
        values |= Event.of(event).state_delta
    return {key: value for key, value in values.items() if not key.startswith(TEMPORARY)}


def _of_agents(events: Iterable[Mapping[str, Any]]) -> Iterator[Event]:
    return (event for event in map(Event.of, events) if event.author != _USER)
