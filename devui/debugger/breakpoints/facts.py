"""What a condition may speak of, for each arrival; see `conditions.NAMES`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from devui.debugger.breakpoints.conditions import Facts
from devui.debugger.prices import Prices
from devui.debugger.stepping.arrivals import Arrival
from devui.store.rows import NewEvent, Usage


@dataclass(slots=True)
class Meter:
    """What a run has used so far."""

    prices: Prices
    events: int = 0
    answers: int = 0
    """Answers of models, as far as their tokens were counted."""
    tokens: int = 0
    cost: float | None = None
    """Dollars, as far as prices are known; None: nothing of it is known."""
    unpriced: int = 0
    """Answers whose cost is unknown, and is not in the sum."""
    calls: int = 0
    """Calls of tools."""
    bytes: int = 0
    """Of its events, as JSON text in UTF-8."""
    repeats: int = 0
    """How often in a row the last tool calls were made with the same arguments; 1: once."""
    _calls: str = ""

    def add(self, event: NewEvent) -> None:
        """Count an event."""
        self.count(tokens=event.tokens, usage=event.usage, size=len(event.data.encode()))
        if event.kind == "call":
            self.call(calls_of(json.loads(event.data)))

    def count(self, *, tokens: int, usage: Usage | None, size: int) -> None:
        """Count an event by what its row tells; the calls in it are told apart."""
        self.events += 1
        self.bytes += size
        self.tokens += tokens
        self.answers += tokens > 0
        if usage is not None:
            self._pay(self.prices.cost(usage))

    def call(self, made: Sequence[Mapping[str, Any]]) -> None:
        """Count the calls of tools of one event, as of `calls_of`."""
        self.calls += len(made)
        calls = json.dumps(made, sort_keys=True)
        self.repeats = self.repeats + 1 if calls == self._calls else 1
        self._calls = calls

    def _pay(self, cost: float | None) -> None:
        if cost is None:
            self.unpriced += 1
        else:
            self.cost = (self.cost or 0.0) + cost

    def with_event(self, event: NewEvent) -> "Meter":
        """The same with one event more."""
        meter = replace(self)
        meter.add(event)
        return meter

    def facts(self, seconds: float) -> Facts:
        """As `run` of a condition."""
        return {
            "events": self.events,
            "answers": self.answers,
            "calls": self.calls,
            "tokens": self.tokens,
            "cost": self.cost,
            "unpriced": self.unpriced,
            "repeats": self.repeats,
            "seconds": seconds,
        }


def facts_of(arrival: Arrival, state: Mapping[str, Any], run: Facts) -> Facts:
    """The facts of an arrival; `state` is the committed one, `run` what the run has used."""
    summary = arrival.summary
    facts = {
        "gate": arrival.gate,
        "agent": arrival.agent,
        "branch": arrival.branch,
        "held": arrival.held,
        "state": state,
        "run": run,
        "delta": arrival.delta,
        **_tool_facts(arrival),
    }
    if summary is not None:
        facts |= {
            "kind": summary.kind,
            "text": summary.text,
            "final": summary.final and arrival.agent != "user",
            "artifacts": list(summary.artifacts),
            "transfer": summary.transfer_to,
            "escalate": summary.escalate,
            "error": summary.error_code,
            "tokens": summary.tokens,
        }
    return facts


def _tool_facts(arrival: Arrival) -> dict[str, Any]:
    """The call or the answer that is held."""
    if arrival.tool is not None and isinstance(arrival.held, Mapping):
        args, result = arrival.held.get("args"), arrival.held.get("result")
        return {"tool": arrival.tool, "tools": [arrival.tool], "args": args, "result": result}
    if arrival.summary is None:
        return {}
    calls, responses = calls_of(arrival.held), responses_of(arrival.held)
    names = [str(each.get("name", "")) for each in (*calls, *responses)]
    return {
        "tool": names[0] if names else None,
        "tools": names,
        "args": calls[0].get("args") if calls else None,
        "result": responses[0].get("response") if responses else None,
    }


def calls_of(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The names and arguments of the event's function calls."""
    return [
        {"name": call.get("name"), "args": call.get("args")}
        for call in _parts(event, "functionCall")
    ]


def responses_of(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The event's function responses."""
    return _parts(event, "functionResponse")


def _parts(event: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    content = event.get("content")
    parts = content.get("parts") if isinstance(content, Mapping) else None
    found = (part.get(name) for part in parts or [] if isinstance(part, Mapping))
    return [each for each in found if isinstance(each, Mapping)]
