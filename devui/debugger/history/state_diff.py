"""The difference between the states of two moments, key by key and inside the values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from devui.debugger.history.blame import ABSENT, Difference, differences
from devui.debugger.history.key_history import Writer
from devui.store.rows import Scope, Value
from devui.store.values import parse_json


class Moment(NamedTuple):
    """A point in a session's history."""

    number: int
    """The number of the event that it directly follows; 0 before the first event."""
    seq: int


@dataclass(frozen=True, slots=True)
class StateChange:
    """A key whose value changed, or that was added or removed."""

    scope: Scope
    key: str
    old: Value | None
    new: Value | None
    differences: tuple[Difference, ...]


def writer(value: Value) -> Writer:
    """Return who wrote the value."""
    return "event" if value.number is not None else "initial" if value.initial else "elsewhere"


def state_changes(before: Sequence[Value], after: Sequence[Value]) -> list[StateChange]:
    """Return the keys whose values differ; rewriting the same value isn't a change."""
    return list(_changes(before, after))


def _changes(before: Sequence[Value], after: Sequence[Value]) -> Iterator[StateChange]:
    old = {(value.scope, value.key): value for value in before}
    new = {(value.scope, value.key): value for value in after}
    for place in [*new, *(place for place in old if place not in new)]:
        was, now = old.get(place), new.get(place)
        changes = differences(
            ABSENT if was is None else parse_json(was.value),
            ABSENT if now is None else parse_json(now.value),
        )
        if changes:
            yield StateChange(*place, was, now, tuple(changes))
