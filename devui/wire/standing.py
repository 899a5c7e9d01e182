"""Where the code of a run stands, as its worker tells it: its tasks and the calls under way.

File, line, function and source line of each frame; never the value of a local variable, which may
be a secret.
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
"""What a task waits for: nothing, its code has the event loop; the debugger at a gate; an event on
its way into the journal; another answer of the server; a plain function in a thread; one task or
several; a lock or semaphore; an item of a queue or room in it; an event or condition that somebody
sets; the clock; or what is none of these, such as the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One frame of a stack."""

    file: str
    """From the agents' folder on, if it is in there."""
    line: int
    function: str
    source: str
    """The line itself, without its indentation; "" if it cannot be read."""
    own: bool
    """Whether it is code of the app, and not of a library or of devui."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStanding:
    """One asyncio task of a run."""

    id: int
    """Within one answer."""
    name: str
    agent: str
    """The agent at work; "" if that cannot be told."""
    branch: str | None
    waits: Waiting
    on: str
    """What exactly, in a few words; "" if there is no more to say."""
    awaits: int | None = None
    """The task that has to go on first: the one awaited, or the one that has the lock."""
    places: list[Place] = field(default_factory=list)
    """The outermost first; those of a thread that it waits for come last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStanding:
    """A call of a model or a tool that has begun and not returned."""

    id: int
    """Of all calls of the worker."""
    kind: Literal["model", "tool"]
    name: str
    about: str
    """The arguments of a tool as JSON, or what a model was sent, cut short."""
    agent: str
    branch: str | None
    call: str | None
    """The id of a function call."""
    since: float
    """Seconds since the epoch."""
    seconds: float
    """For how long it goes on, by the clock that nobody sets."""
    task: int
    """The `TaskStanding.id` of the task that waits for it."""
    place: Place | None
    """The app's own innermost frame in the call, if it has come to one."""
    thread: bool
    """It waits for a plain function in a thread, which nobody can stop."""
    told: bool
    """A person has ended it, and it takes its time."""
    schema: str | None
    """JSON text: the schema of what a tool declares to return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Tell where a run's code stands; answered by `LookAnswer`, even by a blocked event loop."""

    look: int
    run: str
    kind: Literal["look"] = "look"


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAnswer:
    """The answer to a `Look`."""

    look: int
    run: str
    blocked: float
    """Seconds since the event loop has turned; 0 while it turns."""
    calls: list[CallStanding]
    """The oldest first."""
    tasks: list[TaskStanding]
    """The run's own task first."""
    kind: Literal["seen"] = "seen"
