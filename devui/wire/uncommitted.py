"""A worker's reports of state that is written but not committed, while a debugger watches."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTouch:
    """An uncommitted write, or a read of one by another agent, callback or tool.

    Reported when it happens, and again under the same number if more becomes known.
    """

    run: str
    number: int
    """Its number within the run, from 1; writes and reads share one sequence."""
    key: str
    agent: str
    """The agent that wrote or read; "" if unknown."""
    branch: str | None = None
    tool: str | None = None
    call: str | None = None
    """The id of the function call that the tool executes."""
    role: str = ""
    """The agent's callback, such as `before_tool_callback`; "" for its other code."""
    place: str = ""
    """The place in the agent's code, such as `agent.py:12 in plan`; "" if none was executing."""
    at: float
    old: str | None = None
    """JSON text: the committed value of the key; None if there was none."""
    value: str | None = None
    """JSON text: the value as written; None if the key was deleted."""
    paths: list[str] = field(default_factory=list)
    """For a value that was changed without a delta: the paths of the changes, such as `plan.x`."""
    overlaps: int | None = None
    """The number of another writer's uncommitted write to this key."""
    overwritten: bool = False
    """Whether its writer wrote the key again before an event carried this value."""
    lost: bool = False
    """Whether it was undone: a person dropped the event, or removed the key from it."""
    event: str = ""
    """The id of the event that carries it, if that was already on its way when reporting began."""
    reads: int | None = None
    """For a read: the number of the write that it saw. None for a write."""
    kind: Literal["state_touch"] = "state_touch"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedTouches:
    """The touches, by number, that a commit settles."""

    settles: list[int] = field(default_factory=list)
    """The writes that the event commits."""
    reads: list[int] = field(default_factory=list)
    """The dirty reads that led to the event."""
    flags: list[int] = field(default_factory=list)
    """The changes without a delta that were found when it was committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """Make the run report its uncommitted state from now on."""

    run: str
    kind: Literal["watch_state"] = "watch_state"
