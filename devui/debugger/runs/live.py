"""A run in progress, with what its agents have streamed so far and not committed yet.

The fragments of an answer are grouped by author and branch, since several agents may stream at the
same time; a committed event of an author on a branch supersedes what it streamed there.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from devui.debugger.breakpoints.breakpoint import Watch
from devui.debugger.events.checked import InvalidEvent, checked_event
from devui.debugger.guard.guard import Guard
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.inbox import Inbox
from devui.debugger.runs.lineage import Lineage
from devui.debugger.runs.meter import Meter
from devui.debugger.runs.recording import Recording
from devui.debugger.runs.uncommitted import Touches
from devui.debugger.stepping.stepper import CommandOutcome, Stepper
from devui.debugger.workers.workers import Worker
from devui.store.rows import OutputLine, RunRow, SessionRow
from devui.wire.errors import AgentError
from devui.wire.events import USER, Event
from devui.wire.inspection import Inspection
from devui.wire.messages import Debugger, LoopBlocked, Output, ToServer

CHUNK_BATCH = 64
"""How many chunks, lines, touches and spans may wait to be written."""
_MAX_TEXT = 64_000


@dataclass(frozen=True, slots=True)
class StartTime:
    """A moment on the wall clock, whose age is measured by the monotonic clock (R47)."""

    at: float = field(default_factory=time.time)
    """Seconds since the epoch."""
    _clock: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """The number of seconds since then."""
        return time.monotonic() - self._clock


@dataclass(slots=True)
class PythonDebugger:
    """The Python debugger that has stopped the run's code, and how long the code was stopped."""

    debugger: Debugger | None = None
    """The debugger that has stopped the code now, if any."""
    editor_port: int | None = None
    """The port where the app waits for an editor before the run can begin, if it does."""
    _before: float = 0.0
    _since: StartTime = field(default_factory=StartTime)

    def note(self, debugger: Debugger | None) -> None:
        """Record that this debugger has stopped the code; None: the code runs again."""
        self._before = self.seconds
        self._since = StartTime()
        self.debugger = debugger

    @property
    def seconds(self) -> float:
        """How long the code has been stopped in total."""
        return self._before + (self._since.seconds if self.debugger else 0.0)

    def as_json(self) -> dict[str, Any] | None:
        """Return what a person has to attend to in an editor or terminal, if anything."""
        if self.debugger is not None:
            return {"name": self.debugger, "status": "stopped", "address": None}
        if self.editor_port is None:
            return None
        return {"name": "debugpy", "status": "awaited", "address": f"127.0.0.1:{self.editor_port}"}


@dataclass(slots=True)
class Streaming:
    """One answer in flight."""

    event_id: str
    invocation_id: str
    author: str
    branch: str | None
    timestamp: float
    text: str = ""
    thought: str = ""
    chunks: int = 0
    calls: list[str] = field(default_factory=list)
    """Names of the functions the model is about to call."""

    def add(self, event: Event) -> None:
        """Add a partial event."""
        self.chunks += 1
        for part in event.parts:
            if part.text and part.is_thought:
                self.thought = (self.thought + part.text)[:_MAX_TEXT]
            elif part.text:
                self.text = (self.text + part.text)[:_MAX_TEXT]
            elif part.call and (name := part.call.name):
                self.calls = [*(each for each in self.calls if each != name), name]


Answers: TypeAlias = dict[tuple[str, str | None], Streaming]
"""Answers in flight, by author and branch."""


def unfinished(partials: Iterable[str]) -> str | None:
    """Return the texts of partial events that never became events, as JSON for the run's row."""
    answers: Answers = {}
    for text in partials:
        with contextlib.suppress(InvalidEvent):  # another program may have written the journal
            _add(answers, text)
    return _answers_json(answers)


def _add(answers: Answers, text: str) -> str:
    """Add a partial event and return its id. Raises InvalidEvent if it isn't a valid event."""
    event = checked_event(text)
    place = (event.author, event.branch)
    answer = answers.get(place)
    if answer is None or answer.event_id != event.id:
        answer = answers[place] = Streaming(
            event_id=event.id,
            invocation_id=event.invocation_id,
            author=event.author,
            branch=event.branch,
            timestamp=event.timestamp,
        )
    answer.add(event)
    return event.id


def _answers_json(answers: Answers) -> str | None:
    entries = [{"author": each.author, "text": each.text} for each in answers.values() if each.text]
    return json.dumps(entries) if entries else None


@dataclass(frozen=True, slots=True)
class WorkerGone:
    """Put into the inbox of each run of a worker that has ended."""

    status: int
    last_words: str

    @property
    def error(self) -> AgentError:
        """The error of a run that ended with the worker."""
        how = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return AgentError(
            type="WorkerDied",
            message=f"the agent's process ended with {how} during the run; "
            "events committed before that are saved",
            traceback=self.last_words,
        )


Inbound = ToServer | WorkerGone | CommandOutcome
"""The messages that a run's task takes, in order."""


@dataclass(eq=False, slots=True)
class LiveRun:
    """A run that has not ended, with the data that isn't in the journal."""

    row: RunRow
    session: SessionRow
    meter: Meter
    """What it has used so far."""
    is_replay: bool = False
    inbox: Inbox[Inbound] = field(default_factory=Inbox)
    stepper: Stepper = field(default_factory=Stepper)
    """Whether and where it is held."""
    guard: Guard | None = None
    """The guard that asks before a tool with effects runs a second time, if any."""
    ignores_breakpoints: bool = False
    watch: Watch = field(default_factory=Watch)
    """The hits of breakpoints in it so far."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    worker: Worker | None = None
    stopping: bool = False
    hands_on: bool = False
    """Whether it has finished, but is done only when the run that follows begins."""
    is_stuck: bool = False
    """Whether agent code may still be running in the worker although the run is over."""
    recording: Recording = field(default_factory=Recording)
    """Its spans that are open, or not in the journal yet."""
    lineage: Lineage = field(default_factory=Lineage)
    """Where in the tree of agents its events come from."""
    attempts: Attempts = field(default_factory=Attempts)
    """The attempts of calls that its events belong to."""
    changes: dict[int | None, str] = field(default_factory=dict)
    """What people changed in results, as text, by the ids of their edits."""
    blocked: LoopBlocked | None = None
    """What blocks the worker's event loop; None while it isn't blocked."""
    debugging: PythonDebugger = field(default_factory=PythonDebugger)
    """Which Python debugger stops its code, and for how long."""
    start: StartTime = field(default_factory=StartTime)
    """When its worker was told to begin."""
    last_progress: StartTime = field(default_factory=StartTime)
    """When it last made progress: an event, a fragment, a gate or a command."""
    quiet: bool = False
    """Whether it has made no progress for a while although nothing is held."""
    watchdog_wake: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a hold begins or is cancelled, and at the end, to wake the watchdog."""
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Serializes the orders to end or answer its calls."""
    inspection: Inspection | None = None
    """The last inspection since the last command; None if there was none."""
    answers: bool = True
    """Whether its worker answered the last request for one; if not, those calls may be over."""
    streaming: Answers = field(default_factory=dict)
    temp: dict[str, Any] = field(default_factory=dict)
    """The `temp:` state of this invocation, by key with its prefix."""
    engine: str | None = None
    """The engine that executes the run, as JSON text; None once it is written."""
    chunks: list[tuple[str, str]] = field(default_factory=list)
    """Partial events that wait to be written, as (event id, JSON text)."""
    output: list[OutputLine] = field(default_factory=list)
    raw_output: int = 0
    """How many characters of output that bypassed Python's streams were taken."""
    lines: int = 0
    """How many lines have been printed or logged so far."""
    chunk_counts: dict[str, int] = field(default_factory=dict)
    touches: Touches = field(default_factory=Touches)
    """The uncommitted state that it has written and read."""
    watched: bool = False
    """Whether it reports its uncommitted state."""
    stopped_by: str | None = None
    """Who ordered it to stop, if anyone."""

    async def put(self, message: Inbound) -> None:
        """Give the run's task a message, waiting for room; a run that is over takes none."""
        with contextlib.suppress(asyncio.QueueFull):
            self.inbox.put_nowait(message)
            return
        delivery = asyncio.ensure_future(self.inbox.put(message))
        over = asyncio.ensure_future(self.ended.wait())
        await asyncio.wait({delivery, over}, return_when=asyncio.FIRST_COMPLETED)
        delivery.cancel()
        over.cancel()

    def add_partial(self, text: str) -> None:
        """Add a partial event. Raises InvalidEvent if it isn't a valid event."""
        event_id = _add(self.streaming, text)
        self.chunks.append((event_id, text))
        self.chunk_counts[event_id] = self.chunk_counts.get(event_id, 0) + 1

    def add_output(self, message: Output) -> tuple[int, OutputLine]:
        """Add printed or logged output; return its number within the run, from 1, and the line."""
        line = OutputLine(stream=message.stream, text=message.text, at=message.at)
        self.output.append(line)
        self.lines += 1
        return self.lines, line

    def committed(self, author: str, branch: str | None, temp: str | None) -> None:
        """Discard what the author streamed on the branch, since it is an event now.

        `temp` is the event's `temp:` state as JSON text.
        """
        self.streaming.pop((author, branch), None)
        if author == USER:
            self.row = replace(self.row, message=None)
        if temp is not None:
            self.temp.update(json.loads(temp))

    def unfinished(self) -> str | None:
        """Return the texts of answers that aren't events yet, as JSON for the run's row."""
        return _answers_json(self.streaming)

    @property
    def waiting(self) -> int:
        """How many items wait to be written."""
        waiting = (self.chunks, self.output, self.touches, self.recording)
        return sum(len(each) for each in waiting)
