"""A replay's verdict as JSON."""

from typing import Any, Literal

from typing_extensions import TypedDict


class FieldDifferenceJson(TypedDict):
    """A field that differs from the recording; null if it is absent."""

    field: str
    """A path such as `content.parts[0].text`."""
    expected: Any
    actual: Any


class DivergenceJson(TypedDict):
    """Where a replay first differs."""

    what: Literal["model", "tool", "event", "fragment", "end", "network"]
    """A call of a model or tool, an event, a streamed fragment, the run's end, a connection."""
    message: str
    """What happened, in one or two sentences."""
    place: int
    """The number of recorded events that the replay had committed."""
    agent: str | None
    branch: str | None
    expected: Any
    """The recorded call or event; null if there is none."""
    actual: Any
    differences: list[FieldDifferenceJson]
    """The fields that differ; only the first ones if there are many."""
    nearest: Any
    """For a call that isn't recorded: the recorded one that comes next."""


class ReplayVerdictJson(TypedDict):
    """The result of a replay."""

    identical: bool
    """Whether it ended and everything matches the recording."""
    events: int
    """The number of events that match the recording."""
    recorded: int
    """The number of events in the recording."""
    calls: int
    """The number of model and tool calls answered from the recording."""
    live: int
    """The number of live tool calls."""
    resultsDiffer: bool
    """Whether a live call's result differs from the recording, so that requests may differ, too."""
    notes: list[str]
    divergence: DivergenceJson | None
