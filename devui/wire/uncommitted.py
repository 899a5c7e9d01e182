"""What a worker tells of state that is written and not committed, while a debugger watches."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTouch:
    """A write that no committed event carries yet, or a read of one by somebody else.

    Told when it happens; told again under the same number if more is known of it.
    """

    run: str
    number: int
    """From 1 within the run, writes and reads together."""
    key: str
    agent: str
    """Who did it; "" where that cannot be told."""
    branch: str | None = None
    tool: str | None = None
    call: str | None = None
    """The id of the function call that the tool answers."""
    role: str = ""
    """What of the agent: `before_tool_callback`; "" for its own code."""
    place: str = ""
    """Where the agent's code did it: `agent.py:12 in plan`; "" where no code of it is at work."""
    at: float
    old: str | None = None
    """JSON text: what was committed under the key; None if nothing was."""
    value: str | None = None
    """JSON text, as of the write; None if the key was taken away."""
    paths: list[str] = field(default_factory=list)
    """Of a value that was changed without a delta: where, `plan.x`."""
    overlaps: int | None = None
    """The number of somebody else's write of this key that was not committed yet."""
    overwritten: bool = False
    """Its writer wrote the key again before an event carried this value."""
    lost: bool = False
    """It was taken back: a person dropped the event, or took the key out of it."""
    event: str = ""
    """The id of the event that carries it, if that was on its way when the run began to tell."""
    reads: int | None = None
    """Of a read: the number of the write that it saw. None of a write."""
    kind: Literal["state_touch"] = "state_touch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What of it an event brings to an end; numbers of touches."""

    settles: list[int] = field(default_factory=list)
    """Writes that are committed with it."""
    reads: list[int] = field(default_factory=list)
    """Reads that its author made on the way to it."""
    flags: list[int] = field(default_factory=list)
    """Changes without a delta that were found at its commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """From now on the run tells of its uncommitted state."""

    run: str
    kind: Literal["watch_state"] = "watch_state"
