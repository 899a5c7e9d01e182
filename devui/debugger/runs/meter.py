"""What a run has used: events, tokens, dollars, tool calls."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from devui.debugger.events.prices import Prices
from devui.debugger.predicates.facts import calls_of
from devui.store.rows import NewEvent
from devui.store.summaries import Usage


@dataclass(slots=True)
class Meter:
    """What a run has used so far."""

    prices: Prices
    events: int = 0
    answers: int = 0
    """Model answers whose tokens were counted."""
    tokens: int = 0
    cost: float | None = None
    """Dollars, as far as prices are known; None if no cost is known."""
    unpriced: int = 0
    """Answers whose cost is unknown and not in the sum."""
    calls: int = 0
    """Tool calls."""
    bytes: int = 0
    """The size of its events as JSON text in UTF-8."""
    repeats: int = 0
    """How often in a row the last tool calls were made with the same arguments; 1: once."""
    _calls: str = ""

    def add(self, event: NewEvent) -> None:
        """Count an event."""
        self.count(tokens=event.tokens, usage=event.usage, size=len(event.data.encode()))
        if event.kind == "call":
            self.call(calls_of(json.loads(event.data)))

    def count(self, *, tokens: int, usage: Usage | None, size: int) -> None:
        """Count an event from its row; `call` counts the tool calls in it."""
        self.events += 1
        self.bytes += size
        self.tokens += tokens
        self.answers += tokens > 0
        if usage is not None:
            self._pay(self.prices.cost(usage))

    def call(self, tool_calls: Sequence[Mapping[str, Any]]) -> None:
        """Count the tool calls of one event, as `calls_of` returns them."""
        self.calls += len(tool_calls)
        calls = json.dumps(tool_calls, sort_keys=True)
        self.repeats = self.repeats + 1 if calls == self._calls else 1
        self._calls = calls

    def _pay(self, cost: float | None) -> None:
        if cost is None:
            self.unpriced += 1
        else:
            self.cost = (self.cost or 0.0) + cost

    def with_event(self, event: NewEvent) -> "Meter":
        """Return a copy that counts this event, too."""
        meter = replace(self)
        meter.add(event)
        return meter

    def facts(self, seconds: float) -> Mapping[str, Any]:
        """Return the values of `run` for conditions."""
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
