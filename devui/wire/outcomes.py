"""What a run came to, read off its events in wire form: the same of a recording and of its replay.

A test that is made of a recording says what these functions gave then (decisions/0013).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

_USER = "user"
TEMPORARY = "temp:"
"""The prefix of state that ends with its invocation."""


def last_text(events: Iterable[Mapping[str, Any]]) -> str | None:
    """What agents said last, thoughts aside; None if nothing was said."""
    said = None
    for event in _of_agents(events):
        texts = [part["text"] for part in _parts(event) if _is_said(part)]
        said = "".join(texts) if texts else said
    return said


def tool_calls(events: Iterable[Mapping[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that models and agents asked for, in order: names and arguments."""
    calls = [part.get("functionCall") for event in _of_agents(events) for part in _parts(event)]
    return [(str(call.get("name")), call.get("args") or {}) for call in calls if call]


def agents_in_turn(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Whose events they are; one that goes on is named once."""
    return [author for author, _ in groupby(str(e.get("author")) for e in _of_agents(events))]


def written(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The last value of each state key that was written, with its prefix; `temp:` aside."""
    values: dict[str, Any] = {}
    for event in events:
        values |= (event.get("actions") or {}).get("stateDelta") or {}
    return {key: value for key, value in values.items() if not key.startswith(TEMPORARY)}


def _of_agents(events: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (event for event in events if event.get("author") != _USER)


def _parts(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    return (event.get("content") or {}).get("parts") or []


def _is_said(part: Mapping[str, Any]) -> bool:
    return bool(part.get("text")) and not part.get("thought")
