"""The order to end one call of a model or a tool, and what came of it."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCall:
    """End a call that is under way; answered by `CallEnded`."""

    order: int
    run: str
    call: int
    """The `CallStanding.id`."""
    action: Literal["end", "mock"]
    """It fails, or it has the given answer."""
    value: str
    """JSON text: of `end` why, of `mock` the answer."""
    mark: str
    """JSON text: how the event that comes of it is marked in its custom metadata."""
    kind: Literal["end_call"] = "end_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """The answer to an `EndCall`."""

    order: int
    refused: Literal["", "gone", "told", "stopping", "wrong"] = ""
    """Why nothing was done: it has ended, it was told to before, its run is being stopped, or the
    answer cannot be one."""
    problem: str = ""
    """Of `wrong`: what is wrong with it."""
    thread: bool = False
    """It stands in a plain function, which runs on in its thread; what it returns is dropped."""
    kind: Literal["call_ended"] = "call_ended"
