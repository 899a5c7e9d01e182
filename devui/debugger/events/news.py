"""What the server tells its readers: facts that are stored, and glimpses that are not.

Facts carry the journal's `seq` and were committed before they were published (Law 3); glimpses
(partials, output, positions) are shown and superseded.
"""

from dataclasses import dataclass

from devui.store.rows import EditRow, EventRow, NoteRow, OutputLine, RunRow, SessionRow
from devui.wire.errors import AgentError
from devui.wire.events import Event

APPS = "apps"
"""The topic of what concerns an app or the server as a whole; else it is the session's key."""


@dataclass(frozen=True, slots=True)
class EventCommitted:
    """An event is in the journal."""

    row: EventRow
    event: Event


@dataclass(frozen=True, slots=True)
class EventDropped:
    """A person let an event fall; it is in the journal as an edit."""

    row: EditRow


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
class SpansChanged:
    """An agent, a model call or a tool call of the run began or ended."""

    run: str


@dataclass(frozen=True, slots=True)
class RunStuck:
    """A run's worker does not answer, or the run has not come on for a while; or does so again."""

    run: str


@dataclass(frozen=True, slots=True)
class StateTouched:
    """A run has written state that is not committed, or read some."""

    run: str


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
class SessionRemade:
    """A session was made anew, under the same key, as more of its trace was received."""

    session: int


@dataclass(frozen=True, slots=True)
class ForksChanged:
    """A session was forked."""

    session: int


@dataclass(frozen=True, slots=True)
class OutputArrived:
    """The agent printed or logged."""

    run: str
    first: int
    """The number of the first line within the run, from 1."""
    lines: list[OutputLine]


@dataclass(frozen=True, slots=True)
class ArtifactsChanged:
    """A person saved or deleted a file."""

    name: str


@dataclass(frozen=True, slots=True)
class AppChanged:
    """An app's files changed, or it was loaded, or failed to load."""

    app: str
    error: AgentError | None = None


@dataclass(frozen=True, slots=True)
class BreakpointsChanged:
    """Breakpoints of the app were made, changed or deleted (topic `APPS`), or met in a session."""

    app: str


@dataclass(frozen=True, slots=True)
class WatchChanged:
    """A state key is watched in the app's sessions, or isn't any more (topic `APPS`)."""

    app: str


@dataclass(frozen=True, slots=True)
class NoteChanged:
    """Somebody wrote something about an event or the session, or starred it."""

    note: NoteRow


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """A message was put into the session's queue, changed, or left it."""

    session: int


@dataclass(frozen=True, slots=True)
class NoticesChanged:
    """What is said of the server as a whole has changed (topic `APPS`): a request was refused, the
    clock was moved, somebody has put a notice away (R47, R67).
    """


@dataclass(frozen=True, slots=True)
class JournalChanged:
    """The journal takes no changes any more, or takes them again (topic `APPS`)."""


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
    | QueueChanged
    | JournalChanged
    | NoticesChanged
)
