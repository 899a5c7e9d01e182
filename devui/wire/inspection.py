"""A worker's report of where the code of a run stands: its tasks and its open calls.

It has the file, line, function and source line of each frame, but never the value of a local
variable, which may be a secret.
"""

from dataclasses import dataclass, field
from typing import Literal

Waiting = Literal[
    "running",
    "gate",
    "commit",
    "server",
    "thread",
    "task",
    "tasks",
    "lock",
    "queue",
    "signal",
    "time",
    "other",
]
"""What a task waits for. `running`: nothing, it occupies the event loop. `gate`: the debugger.
`commit`: an event on its way into the journal. `server`: another answer from the server. `thread`:
a plain function in a thread. `task`, `tasks`: one task, or several. `lock`: a lock or semaphore.
`queue`: an item of a queue, or room in it. `signal`: an event or condition that other code sets.
`time`: the clock. `other`: anything else, such as the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One frame of a stack."""

    file: str
    """The path, relative to the agents' folder if the file is inside it."""
    line: int
    function: str
    source: str
    """The source line without its indentation; "" if it can't be read."""
    own: bool
    """Whether this is the app's code, rather than a library's or devui's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedTask:
    """One asyncio task of a run."""

    id: int
    """A number unique within one answer."""
    name: str
    agent: str
    """The agent that it works for; "" if unknown."""
    branch: str | None
    waits: Waiting
    on: str
    """What exactly it waits for, in a few words; "" if `waits` says everything."""
    awaits: int | None = None
    """The task that must make progress first: the awaited one, or the holder of the lock."""
    places: list[Place] = field(default_factory=list)
    """The stack, outermost first; the frames of a thread that the task waits for come last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectedCall:
    """A call of a model or tool that has begun and not returned."""

    id: int
    """A number unique among all calls of the worker."""
    kind: Literal["model", "tool"]
    name: str
    about: str
    """A tool's arguments as JSON, or the request to a model, truncated."""
    agent: str
    branch: str | None
    call: str | None
    """The id of the function call, for a tool."""
    since: float
    """Seconds since the epoch."""
    seconds: float
    """How long it has been open, by the monotonic clock."""
    task: int
    """The `InspectedTask.id` of the task that waits for it."""
    place: Place | None
    """The app's own innermost frame in the call, if its code has been reached."""
    thread: bool
    """Whether it waits for a plain function in a thread, which can't be stopped."""
    ending: bool
    """Whether a person has ended it and it hasn't returned yet."""
    schema: str | None
    """JSON text: the schema of a tool's declared result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectRun:
    """Ask where a run's code stands; answered by `Inspection` even if the event loop is blocked."""

    number: int
    run: str
    kind: Literal["inspect"] = "inspect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """The answer to an `InspectRun`."""

    number: int
    run: str
    blocked: float
    """How long the event loop has been blocked, in seconds; 0 if it runs."""
    calls: list[InspectedCall]
    """The open calls, oldest first."""
    tasks: list[InspectedTask]
    """The tasks, the run's own first."""
    kind: Literal["inspection"] = "inspection"
