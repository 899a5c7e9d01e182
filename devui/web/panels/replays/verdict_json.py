"""What a replay's verdict is as JSON."""

from typing import Any, Literal, NotRequired

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
    """How many of the recorded events the replay had committed."""
    agent: str | None
    branch: str | None
    expected: Any
    """The recorded call or event; null if there is none."""
    actual: Any
    differences: list[FieldDifferenceJson]
    """The fields that differ, the first ones if there are many."""
    nearest: Any
    """For a call that isn't recorded: the recorded one that comes next."""


class ReplayVerdictJson(TypedDict):
    """The result of a replay."""

    identical: bool
    """Whether it ended, and everything matches the recording."""
    events: int
    """How many events match the recording."""
    recorded: int
    """How many events the recording has."""
    calls: int
    """How many calls of models and tools were answered from the recording."""
    live: int
    """How many live calls of tools were made."""
    strayed: NotRequired[bool]
    """A live call gave a different result than recorded, so models may see different requests."""
    notes: list[str]
    divergence: DivergenceJson | None
