"""A run as it happens: what its agents have streamed so far and not committed yet.

Fragments of one answer are told apart by author and branch, since agents of a tree may stream at
the same time; a committed event of an author on a branch supersedes what it streamed there.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from devui.debugger.breakpoints.breakpoint import Watch
from devui.debugger.events.checked import InvalidEvent, told_event
from devui.debugger.guard.guard import Guard
from devui.debugger.runs.attempts import Attempts
from devui.debugger.runs.inbox import Inbox
from devui.debugger.runs.lineage import Lineage
from devui.debugger.runs.meter import Meter
from devui.debugger.runs.recording import Recording
from devui.debugger.runs.uncommitted import Touches
from devui.debugger.stepping.stepper import Moved, Stepper
from devui.debugger.workers.workers import Worker
from devui.store.rows import OutputLine, RunRow, SessionRow
from devui.wire.errors import AgentError
from devui.wire.events import USER, Event
from devui.wire.messages import Blocked, Debugger, Output, ToServer
from devui.wire.standing import LookAnswer

CHUNK_BATCH = 64
"""How many chunks or lines may wait to be written."""
_MAX_TEXT = 64_000


@dataclass(frozen=True, slots=True)
class Since:
    """A moment: told by the wall clock, and measured by one that nobody sets (R47)."""

    at: float = field(default_factory=time.time)
    """Seconds since the epoch."""
    _clock: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """How long ago it was."""
        return time.monotonic() - self._clock


@dataclass(slots=True)
class PythonDebugger:
    """What debuggers of Python do to the run, and for how long one had stopped its code."""

    debugger: Debugger | None = None
    """The one that has now."""
    awaited: int | None = None
    """The port at which the app waits for an editor before the run can begin."""
    _before: float = 0.0
    _since: Since = field(default_factory=Since)

    def note(self, debugger: Debugger | None) -> None:
        """One has stopped the code, or none any more."""
        self._before = self.seconds
        self._since = Since()
        self.debugger = debugger

    @property
    def seconds(self) -> float:
        """In all, until now."""
        return self._before + (self._since.seconds if self.debugger else 0.0)

    def as_json(self) -> dict[str, Any] | None:
        """What a person has to do in an editor or terminal; None if nothing."""
        if self.debugger is not None:
            return {"name": self.debugger, "status": "stopped", "address": None}
        if self.awaited is None:
            return None
        return {"name": "debugpy", "status": "awaited", "address": f"127.0.0.1:{self.awaited}"}


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
        """Take one more partial event."""
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
    """What partial events say, of which none has become an event: JSON text for the run's row."""
    answers: Answers = {}
    for text in partials:
        with contextlib.suppress(InvalidEvent):  # the journal may have been written by others
            _add(answers, text)
    return _answers_json(answers)


def _add(answers: Answers, text: str) -> str:
    """Take a partial event, and return its id; raises InvalidEvent if it is none."""
    event = told_event(text)
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
        """What is told of a run that ended with it."""
        how = f"signal {-self.status}" if self.status < 0 else f"status {self.status}"
        return AgentError(
            type="WorkerDied",
            message=f"the agent's process ended with {how} during the run; "
            "events committed before that are saved",
            traceback=self.last_words,
        )


Inbound = ToServer | WorkerGone | Moved
"""What a run's task takes, in order."""


@dataclass(eq=False, slots=True)
class LiveRun:
    """A run that has not ended, and what of it is not in the journal."""

    row: RunRow
    session: SessionRow
    meter: Meter
    """What it has used."""
    is_replay: bool = False
    inbox: Inbox[Inbound] = field(default_factory=Inbox)
    stepper: Stepper = field(default_factory=Stepper)
    """Whether and where it is held."""
    guard: Guard | None = None
    """What asks before a tool that has run before runs again."""
    ignores_breakpoints: bool = False
    watch: Watch = field(default_factory=Watch)
    """What the breakpoints have seen of it."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    worker: Worker | None = None
    stopping: bool = False
    hands_on: bool = False
    """It has come to its end, and is done when the run that follows begins."""
    stuck: bool = False
    """Agent code may still be running in the worker although the run is over."""
    recording: Recording = field(default_factory=Recording)
    """Its spans that are not in the journal."""
    lineage: Lineage = field(default_factory=Lineage)
    """Where its events come from."""
    attempts: Attempts = field(default_factory=Attempts)
    """Which tries of calls its events are about."""
    blocked: Blocked | None = None
    """Who holds the worker's event loop, while it does not turn."""
    debugging: PythonDebugger = field(default_factory=PythonDebugger)
    """For how long a debugger of Python had stopped its worker."""
    start: Since = field(default_factory=Since)
    """When its worker was told to begin."""
    progressed: Since = field(default_factory=Since)
    """When it last came on: an event, a fragment, a gate, a command."""
    quiet: bool = False
    """It has not come on for a while, and nobody holds it."""
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by what is held and let go, for whoever watches."""
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Orders about its calls are carried out one after the other."""
    look: LookAnswer | None = None
    """Where its code stood when somebody last looked, since it was last let go."""
    streaming: Answers = field(default_factory=dict)
    temp: dict[str, Any] = field(default_factory=dict)
    """The `temp:` state of this invocation, by key with its prefix."""
    engine: str | None = None
    """What executes the run, as JSON text, until that is written."""
    chunks: list[tuple[str, str]] = field(default_factory=list)
    """Partial events that wait to be written, as (event id, JSON text)."""
    output: list[OutputLine] = field(default_factory=list)
    raw_output: int = 0
    """Characters of output past Python's streams that were taken."""
    lines: int = 0
    """How many lines were printed or logged so far."""
    chunk_counts: dict[str, int] = field(default_factory=dict)
    touches: Touches = field(default_factory=Touches)
    """What of its state it has written and not committed."""
    watched: bool = False
    """Whether it tells of that."""
    stopped_by: str | None = None
    """Who has said that it is to stop."""

    async def put(self, message: Inbound) -> None:
        """Hand the run's task a message; a run that is over takes none."""
        with contextlib.suppress(asyncio.QueueFull):
            self.inbox.put_nowait(message)
            return
        delivery = asyncio.ensure_future(self.inbox.put(message))
        over = asyncio.ensure_future(self.ended.wait())
        await asyncio.wait({delivery, over}, return_when=asyncio.FIRST_COMPLETED)
        delivery.cancel()
        over.cancel()

    def add_partial(self, text: str) -> None:
        """Take a partial event; raises InvalidEvent if it is none."""
        event_id = _add(self.streaming, text)
        self.chunks.append((event_id, text))
        self.chunk_counts[event_id] = self.chunk_counts.get(event_id, 0) + 1

    def add_output(self, message: Output) -> tuple[int, OutputLine]:
        """Take something printed or logged; its number within the run, from 1, and the line."""
        line = OutputLine(stream=message.stream, text=message.text, at=message.at)
        self.output.append(line)
        self.lines += 1
        return self.lines, line

    def committed(self, author: str, branch: str | None, temp: str | None) -> None:
        """What this author streamed on this branch is an event now; `temp` is its `temp:` state."""
        self.streaming.pop((author, branch), None)
        if author == USER:
            self.row = replace(self.row, message=None)
        if temp is not None:
            self.temp.update(json.loads(temp))

    def unfinished(self) -> str | None:
        """What was streamed of answers that are no events yet: JSON text for the run's row."""
        return _answers_json(self.streaming)

    @property
    def waiting(self) -> int:
        """How much waits to be written."""
        waiting = (self.chunks, self.output, self.touches, self.recording)
        return sum(len(each) for each in waiting)
