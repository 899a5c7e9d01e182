"""The news that the server publishes: facts, which are stored, and glimpses, which aren't.

Facts carry the journal's `seq` and are committed before they are published (Law 3). Glimpses
(partials, output, positions) are shown until something newer replaces them.
"""

from dataclasses import dataclass

from devui.store.rows import EditRow, EventRow, NoteRow, OutputLine, RunRow, SessionRow
from devui.wire.errors import AgentError
from devui.wire.events import Event

APPS = "apps"
"""The topic for news of an app or of the whole server; other topics are session keys."""


@dataclass(frozen=True, slots=True)
class EventCommitted:
    """An event was committed to the journal."""

    row: EventRow
    event: Event


@dataclass(frozen=True, slots=True)
class EventDropped:
    """A person dropped an event; the journal has it as an edit."""

    row: EditRow


@dataclass(frozen=True, slots=True)
class PartialArrived:
    """A partial event arrived."""

    run: str
    data: str
    """The partial event as JSON."""


@dataclass(frozen=True, slots=True)
class RunChanged:
    """A run began, changed its status or ended."""

    run: RunRow


@dataclass(frozen=True, slots=True)
class SpansChanged:
    """An agent, a model call or a tool call of the run began or ended."""

    run: str


@dataclass(frozen=True, slots=True)
class RunStuck:
    """A run or its worker stopped responding, or recovered."""

    run: str


@dataclass(frozen=True, slots=True)
class StateTouched:
    """A run wrote state that isn't committed yet, or read state."""

    run: str


@dataclass(frozen=True, slots=True)
class PositionChanged:
    """A run was held at a gate, released, or told where to stop next."""

    run: str
    position: int


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session was renamed, or deleted (None)."""

    session: SessionRow | None


@dataclass(frozen=True, slots=True)
class SessionRemade:
    """A session was rebuilt under the same key because more of its trace was received."""

    session: int


@dataclass(frozen=True, slots=True)
class ForksChanged:
    """A session was forked."""

    session: int


@dataclass(frozen=True, slots=True)
class OutputArrived:
    """The agent printed or logged something."""

    run: str
    first: int
    """The number of the first line within the run, from 1."""
    lines: list[OutputLine]


@dataclass(frozen=True, slots=True)
class ArtifactsChanged:
    """A person saved or deleted an artifact."""

    name: str


@dataclass(frozen=True, slots=True)
class AppChanged:
    """An app's files changed, its worker started or ended, or it failed to load."""

    app: str
    error: AgentError | None = None


@dataclass(frozen=True, slots=True)
class BreakpointsChanged:
    """An app's breakpoints were created, changed or deleted (topic `APPS`), or hit in a session."""

    app: str


@dataclass(frozen=True, slots=True)
class WatchChanged:
    """A state key of an app was added to the watched ones, or removed from them (topic `APPS`)."""

    app: str


@dataclass(frozen=True, slots=True)
class NoteChanged:
    """Somebody changed a note or star on an event or on the session."""

    note: NoteRow


@dataclass(frozen=True, slots=True)
class TagsChanged:
    """Somebody changed the session's tags."""

    session: int


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """A message in the session's queue was added, changed or removed."""

    session: int


@dataclass(frozen=True, slots=True)
class NoticesChanged:
    """The server's notices changed (topic `APPS`): a request was refused, the clock was moved, or
    somebody dismissed a notice (R47, R67).
    """


@dataclass(frozen=True, slots=True)
class JournalChanged:
    """The journal stopped accepting writes, or accepts them again (topic `APPS`)."""


News = (
    EventCommitted
    | EventDropped
    | PartialArrived
    | RunChanged
    | SpansChanged
    | RunStuck
    | StateTouched
    | ArtifactsChanged
    | PositionChanged
    | SessionChanged
    | SessionRemade
    | ForksChanged
    | OutputArrived
    | AppChanged
    | BreakpointsChanged
    | WatchChanged
    | NoteChanged
    | TagsChanged
    | QueueChanged
    | JournalChanged
    | NoticesChanged
)
