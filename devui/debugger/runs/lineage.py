"""Where in the tree of agents the events of a run come from."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from devui.wire.spans import SpanBegan, SpanEnded


@dataclass(slots=True)
class _Place:
    """One execution of an agent in the tree, from its beginning to its end."""

    path: str = ""
    above: Self | None = None
    round: int = 0
    """The round of the parent that it starts; 0 if none, or if an event has shown it."""
    times: Counter[str] = field(default_factory=Counter)
    """How many times it has started each sub-agent, by name."""
    rounds: int = 1

    def begin(self, name: str, path: str) -> "_Place":
        """Start a sub-agent and return its place. The first one to start again starts a round."""
        self.times[name] += 1
        is_next = self.times[name] > self.rounds
        self.rounds += is_next
        return _Place(path, self, self.rounds if is_next else 0)


@dataclass(slots=True)
class Lineage:
    """The agents that one run has started, and the branches that its events came from."""

    _places: dict[int, _Place] = field(default_factory=dict)
    """The places of agents in progress, by the numbers of their spans."""
    _newest: dict[tuple[str, str | None], _Place] = field(default_factory=dict)
    """The place of the agent that began last, by its name and branch."""
    _lanes: dict[str, int] = field(default_factory=dict)
    """The lane of each branch, also of those that have ended: their last events may still come."""
    _open: dict[str, int | None] = field(default_factory=dict)
    """The branches whose lanes aren't free, each with the span of the agent that runs it in
    parallel with others."""

    def begin(self, span: SpanBegan) -> None:
        """Add an agent that began; models and tools aren't part of the tree."""
        if span.type != "agent":
            return
        above = self._places.get(span.parent) if span.parent is not None else None
        names = above.path.split("/") if above else []
        # An agent that gets control back stays where it was, not below those it has called.
        names = names[: names.index(span.name)] if span.name in names else names
        path = "/".join([*names, span.name])
        place = above.begin(span.name, path) if above else _Place(path)
        self._places[span.span] = self._newest[span.name, span.branch] = place
        if span.branch:
            self._lane(span.branch, span.parent)

    def end(self, span: SpanEnded) -> None:
        """Remove a span that ended; nothing more begins in it, but its events may still come.

        Only then are the lanes of the branches in it free, so that all of them keep apart.
        """
        self._places.pop(span.span, None)
        for branch in [each for each, owner in self._open.items() if owner == span.span]:
            del self._open[branch]

    def _lane(self, branch: str, owner: int | None) -> int:
        """Return the lane of a branch in progress; a new one gets the first free lane."""
        if branch not in self._open:
            used = {self._lanes[each] for each in self._open}
            self._lanes[branch] = next(lane for lane in count(1) if lane not in used)
            self._open[branch] = owner
        return self._lanes[branch]

    def place(self, author: str, branch: str | None) -> tuple[str, int]:
        """Return the path and the lane of an event, as in its `Summary`."""
        lane = 0
        if branch:
            lane = self._lanes[branch] if branch in self._lanes else self._lane(branch, None)
        place = self._newest.get((author, branch))
        return place.path if place else "", lane

    def round(self, author: str, branch: str | None) -> int:
        """Return the round that begins with this event, as in its `Summary`, once per round."""
        place = self._newest.get((author, branch))
        number = 0
        while place:
            number, place.round = number or place.round, 0
            place = place.above
        return number
