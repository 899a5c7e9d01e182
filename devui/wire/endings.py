"""The order to end one call of a model or a tool, and its outcome."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCall:
    """End a call that is under way; answered by `CallEnded`."""

    order: int
    run: str
    call: int
    """The `InspectedCall.id`."""
    action: Literal["end", "mock"]
    """Whether the call fails or returns the given answer."""
    value: str
    """JSON text: the reason for `end`, the answer for `mock`."""
    mark: str
    """JSON text: the mark that the resulting event gets in its custom metadata."""
    kind: Literal["end_call"] = "end_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded:
    """The answer to an `EndCall`."""

    order: int
    refused: Literal["", "gone", "ending", "stopping", "wrong"] = ""
    """Why nothing was done: the call has ended, it was already told to end, its run is being
    stopped, or the answer is invalid."""
    problem: str = ""
    """For `wrong`: what is wrong with the answer."""
    thread: bool = False
    """Whether it is in a plain function, which runs on in its thread; the result is discarded."""
    kind: Literal["call_ended"] = "call_ended"
