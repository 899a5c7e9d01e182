"""The table of facts about an event that filters, conditions and log lines can use.

`Facts` computes a fact when it is asked for. Most of them are in an event's row. A fact that only
the event's body has raises `BodyNeeded` until the body is read, so a filter or a breakpoint reads
only the bodies of events that their rows leave undecided.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final, Literal, Self

from devui.debugger.events.nodes import name_of
from devui.debugger.events.prices import Prices
from devui.store.rows import EventRow, NoteRow
from devui.store.summaries import Summary


class BodyNeeded(Exception):
    """Only the event's body has the fact; `part` is what the row has of it."""

    def __init__(self, part: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.part = part


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one event, or about what is held at a gate."""

    values: dict[str, Any] = field(default_factory=dict)
    """Known values by name, which take precedence over the other members. `get` adds the values it
    computes, since a filter asks again once the body is read."""
    summary: Summary | None = None
    """None at a gate that holds no event, where facts that aren't in `values` are null."""
    author: str = ""
    branch: str | None = None
    chunks: int = 0
    size: int | None = None
    """The size of the event as JSON, in bytes."""
    seconds: float | None = None
    """The seconds since the previous event."""
    prices: Prices | None = None
    note: NoteRow | None = None
    body: Callable[[], Mapping[str, Any]] | None = None
    """Returns the event as parsed JSON; None until the body is read."""

    @classmethod
    def of(
        cls,
        row: EventRow,
        summary: Summary,
        *,
        seconds: float | None = None,
        prices: Prices | None = None,
        note: NoteRow | None = None,
    ) -> Self:
        """Return the facts of a stored event, without its body."""
        return cls(
            summary=summary,
            author=row.author,
            branch=row.branch,
            chunks=row.chunks,
            size=row.size,
            seconds=seconds,
            prices=prices,
            note=note,
        )

    def get(self, name: str) -> Any:
        """Return the value of a fact, None if it has none. Raises BodyNeeded."""
        if name in self.values:
            return self.values[name]
        read = FACTS[name].read
        if read is None or self.summary is None:
            return None
        value = self.values[name] = read(self, self.summary)
        return value

    def but(self, values: Mapping[str, Any]) -> Self:
        """Return a copy with these values, too."""
        return replace(self, values={**self.values, **values})

    def reading(self, body: str) -> Self:
        """Return a copy with the event's JSON text, which is parsed when a fact needs it."""
        return replace(self, body=cache(lambda: json.loads(body, parse_constant=str)))


Read = Callable[[Facts, Summary], Any]


@dataclass(frozen=True, slots=True)
class Fact:
    """One row of the table."""

    read: Read | None = None
    """Reads it from an event; None if it has to be given."""
    only: Literal["", "filter", "gate"] = ""
    """Whether only filters know it, or only breakpoints (`gate`)."""
    in_body: bool = False
    """Whether it may need the event's body."""


def _body(facts: Facts) -> Mapping[str, Any]:
    if facts.body is None:
        raise BodyNeeded
    return facts.body()


def _tools(facts: Facts, summary: Summary) -> list[str]:
    return _calls(facts, summary) + _responses(facts, summary)


def _calls(_: Facts, summary: Summary) -> list[str]:
    return [each.name for each in summary.calls]


def _responses(_: Facts, summary: Summary) -> list[str]:
    return [each.name for each in summary.responses]


def _keys(facts: Facts, summary: Summary) -> list[str]:
    """Return all keys of the state delta; rows have only the first ones."""
    if len(summary.state_keys) == summary.state_count:
        return list(summary.state_keys)
    if facts.body is None:
        raise BodyNeeded(summary.state_keys)
    return list(_delta(facts, summary))


def _delta(facts: Facts, _: Summary) -> Mapping[str, Any]:
    return mapping(mapping(_body(facts), "actions"), "stateDelta")


def _first(items: list[Mapping[str, Any]], name: str) -> Any:
    return items[0].get(name) if items else None


def _row(facts: Facts, summary: Summary) -> str:
    pieces = (summary.text, summary.kind, facts.author, *_flags(facts, summary))
    names = (*_tools(facts, summary), *summary.state_keys, *summary.artifacts)
    return " ".join((*pieces, *names, facts.note.text if facts.note else "")).lower()


def _flags(facts: Facts, summary: Summary) -> list[str]:
    return [name for name, holds in FLAGS.items() if holds(facts, summary)]


def _cost(facts: Facts, summary: Summary) -> float | None:
    return facts.prices.cost(summary.usage) if facts.prices and summary.usage else None


FLAGS: Final[Mapping[str, Read]] = {
    "error": lambda _, s: s.has_failed,
    "final": lambda _, s: s.final and s.kind != "user",
    "partial": lambda _, s: s.partial,
    "streamed": lambda facts, _: facts.chunks > 0,
    "edited": lambda _, s: s.edited,
    "long": lambda _, s: s.long_running,
    "state": lambda _, s: s.state_count > 0,
    "artifact": lambda _, s: bool(s.artifacts),
    "warned": lambda _, s: bool(s.notes),
    "starred": lambda facts, _: facts.note is not None and facts.note.starred,
    "noted": lambda facts, _: facts.note is not None and bool(facts.note.text),
}
"""The flags in the fact `flags`, and after `is:` in a filter."""

FACTS: Final[Mapping[str, Fact]] = {
    "gate": Fact(only="gate"),
    "kind": Fact(lambda _, s: s.kind),
    "agent": Fact(lambda facts, _: facts.author),
    "node": Fact(lambda _, s: _node(s)),
    "branch": Fact(lambda facts, _: facts.branch),
    "text": Fact(lambda _, s: s.text),
    "said": Fact(
        lambda facts, _: "\n".join(texts(_body(facts))).lower(),
        in_body=True,
    ),
    "row": Fact(_row, only="filter"),
    "flags": Fact(_flags),
    "final": Fact(lambda facts, s: s.final and facts.author != "user"),
    "tool": Fact(
        lambda facts, s: next(iter(_tools(facts, s)), None),
    ),
    "tools": Fact(_tools),
    "calls": Fact(_calls),
    "responses": Fact(_responses),
    "args": Fact(
        lambda facts, _: _first(calls_of(_body(facts)), "args"),
        in_body=True,
    ),
    "result": Fact(
        lambda facts, _: _first(responses_of(_body(facts)), "response"),
        in_body=True,
    ),
    "model": Fact(lambda _, s: s.usage.model if s.usage else None),
    "key": Fact(only="gate"),
    "old": Fact(only="gate"),
    "new": Fact(only="gate"),
    "keys": Fact(_keys, in_body=True),
    "delta": Fact(_delta, in_body=True),
    "state": Fact(only="gate"),
    "artifacts": Fact(lambda _, s: list(s.artifacts)),
    "transfer": Fact(lambda _, s: s.transfer_to),
    "escalate": Fact(lambda _, s: s.escalate),
    "error": Fact(lambda _, s: s.error_code),
    "tokens": Fact(lambda _, s: s.tokens),
    "cost": Fact(_cost),
    "seconds": Fact(lambda facts, _: facts.seconds, only="filter"),
    "size": Fact(lambda facts, _: facts.size),
    "held": Fact(
        lambda facts, _: _body(facts),
        in_body=True,
    ),
    "run": Fact(only="gate"),
}
"""The names that expressions can use, and the facts that the words of a filter compare."""

RUN: Final = ("events", "answers", "calls", "tokens", "cost", "unpriced", "seconds", "repeats")
"""The members of the fact `run`."""


def _node(summary: Summary) -> str | None:
    return name_of(summary.node) or None


def calls_of(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the names and arguments of the event's function calls."""
    return [
        {"name": call.get("name"), "args": call.get("args")}
        for call in _parts(event, "functionCall")
    ]


def responses_of(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the event's function responses."""
    return _parts(event, "functionResponse")


def texts(event: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of an event: its parts, calls and results, its state, its errors, its ids."""
    actions = mapping(event, "actions")
    for part in mapping(event, "content").get("parts") or ():
        yield from _strings({k: v for k, v in part.items() if k not in _UNREAD})
    for value in (mapping(actions, "stateDelta"), mapping(actions, "artifactDelta")):
        yield from (*value, *_strings(value))
    for name in ("errorCode", "errorMessage", "output", "id", "invocationId"):
        yield from _strings(event.get(name))


_UNREAD: Final = frozenset({"inlineData", "thoughtSignature"})
"""The fields of a part that aren't readable text."""


def mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object with this name in an object; an empty one if there is none."""
    inner = value.get(name)
    return inner if isinstance(inner, Mapping) else {}


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def _parts(event: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    parts = mapping(event, "content").get("parts")
    values = (part.get(name) for part in parts or [] if isinstance(part, Mapping))
    return [each for each in values if isinstance(each, Mapping)]
