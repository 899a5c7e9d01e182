"""What the server tells its readers: facts that are stored, and glimpses that are not.

Facts carry the journal's `seq` and were committed before they were published (Law 3); glimpses
(partials, output, positions) are shown and superseded.
"""

from dataclasses import dataclass

from devui.store.rows import EventRow, OutputLine, RunRow, SessionRow
from devui.wire.messages import AgentError

APPS = "apps"
"""The topic of `AppChanged` and `BreakpointsChanged`; else the topic is the session's key."""


@dataclass(frozen=True, slots=True)
class EventCommitted:
    """An event is in the journal."""

    row: EventRow
    data: str
    """JSON text of the Event."""


@dataclass(frozen=True, slots=True)
class PartialArrived:
    """A fragment of an event to come."""

    run: str
    data: str
    """JSON text of the partial Event."""


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run began, changed its status or ended."""

    run: RunRow


@dataclass(frozen=True, slots=True)
class RunStuck:
    """The run's worker does not answer: where its code stands; empty when it answers again."""

    run: str
    stack: str


@dataclass(frozen=True, slots=True)
class PositionChanged:
    """A run was held at a gate, or let go, or told to stop somewhere."""

    run: str
    position: int


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session was renamed, or (None) deleted."""

    session: SessionRow | None


@dataclass(frozen=True, slots=True)
class OutputArrived:
    """The agent printed or logged."""

    run: str
    first: int
    """The number of the first line within the run, from 1."""
    lines: list[OutputLine]


@dataclass(frozen=True, slots=True)
class AppChanged:
    """An app's files changed, or it was loaded, or failed to load."""

    app: str
    error: AgentError | None = None


@dataclass(frozen=True, slots=True)
class BreakpointsChanged:
    """Breakpoints of the app were made, changed or deleted (topic `APPS`), or met in a session."""

    app: str


News = (
    EventCommitted
    | PartialArrived
    | RunChanged
    | RunStuck
    | PositionChanged
    | SessionChanged
    | OutputArrived
    | AppChanged
    | BreakpointsChanged
)
