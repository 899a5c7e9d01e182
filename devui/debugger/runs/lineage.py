"""Where in the tree of agents the events of a run come from."""

from dataclasses import dataclass, field

from devui.wire.spans import SpanBegan, SpanEnded


@dataclass(slots=True)
class Lineage:
    """The agents that one run has begun, and the branches that its events came from."""

    _paths: dict[int, str] = field(default_factory=dict)
    """Of the spans of agents that are under way, by their numbers."""
    _newest: dict[tuple[str, str | None], str] = field(default_factory=dict)
    """The path of the agent that began last, by its name and branch."""
    _lanes: dict[str, int] = field(default_factory=dict)

    def begin(self, span: SpanBegan) -> None:
        """Something began; models and tools are not part of the tree."""
        if span.type != "agent":
            return
        above = self._paths.get(span.parent, "") if span.parent is not None else ""
        names = above.split("/") if above else []
        # An agent to which control returns is where it was, not below those it has called.
        names = names[: names.index(span.name)] if span.name in names else names
        path = "/".join([*names, span.name])
        self._paths[span.span] = self._newest[span.name, span.branch] = path

    def end(self, span: SpanEnded) -> None:
        """Something is over, and nothing more begins in it. Events of it may still come."""
        self._paths.pop(span.span, None)

    def place(self, author: str, branch: str | None) -> tuple[str, int]:
        """The path and the lane of an event, as in its `Summary`."""
        lane = self._lanes.setdefault(branch, len(self._lanes) + 1) if branch else 0
        return self._newest.get((author, branch), ""), lane
