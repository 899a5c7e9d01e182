"""The words of the debugger that several sides use: gates, what a person decides and orders."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Action = Literal["edit", "mock", "skip", "reject", "drop"]
"""What a person may do to what is held: change it; answer in the place of a model or a tool, with a
value, with nothing, or with an error; let an event fall."""


GUARD: Final = "guard"
"""Under whose name the guard takes a recorded result in place of a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person decided about what is held; travels as JSON inside a `Reply`."""

    action: Action
    value: str
    """JSON text: of `edit` what takes the place of what is held, of `mock` the answer, of `reject`
    the reason."""
    mark: str
    """JSON text: how the event that comes of it is marked in its custom metadata; "" if not."""
    committed: str = "{}"
    """JSON text: what is committed, if anything, under the keys that the held event writes."""
    effects: str = "{}"
    """JSON text: the actions that come with a recorded result, `EventActions` in wire form."""


EDITED = "devui_edited"
"""Key of an event's custom metadata: the marks of what people changed on the way to it."""

HandGate = Literal["before_model", "after_model", "before_tool", "after_tool", "before_commit"]
HANDS: frozenset[HandGate] = frozenset(get_args(HandGate))
"""The gates at which people change what is held."""

SKIPPED = {"skipped": "the call was skipped by a person"}
"""What stands for the result of a tool call that a person skipped."""


EFFECTS = "devui_effects"
"""Key of an event's custom metadata: of the calls in it, by id, what they do to the world:
`read_only`, `idempotent` or `effects` as their author says in code, or `hint`: the server of the
tool claims that they may be made twice."""

Effect = Literal["read_only", "idempotent", "effects", "hint"]

WorkerGate = Literal[
    "enter_agent",
    "before_model",
    "after_model",
    "before_tool",
    "after_tool",
    "leave_agent",
]
"""Where a worker asks the server before it goes on, if that is armed for the run. The two gates
around a commit need no question: an `Append` waits for its answer as it is."""

ORDERS: Final[Mapping[str, str]] = {
    "continue": "Continue",
    "pause": "Pause",
    "step_event": "Step",
    "step_half": "Half",
    "step_into": "Into",
    "step_out": "Out",
    "run_to": "Run to next similar event",
    "stop_after_event": "Stop after",
    "stop": "Stop",
    "edit": "Edit",
    "mock": "Mock",
    "skip": "Skip",
    "reject": "Reject",
    "drop": "Drop",
    "undo": "Undo",
    "end": "End this call",
    "answer": "Answer instead",
}
"""What orders to a run are called, by the page's buttons and notes, the log and the terminal."""
PLANS: Final[Mapping[str, str]] = {
    "pause": "running up to the next commit",
    "step_event": "running through the next commit",
    "step_half": "running to the next half step",
    "step_into": "running to the next gate",
    "step_out": "running until this call returns",
    "run_to": "running to the next similar event",
    "stop_after_event": "running to the next commit, then stopping",
}
"""How far a run goes on after an order."""


def original(gate: str, payload: Any) -> Any:
    """The part of what is held at the gate that an edit takes the place of."""
    part = {"before_tool": "args", "after_tool": "result"}.get(gate)
    if part is None:
        return payload
    return payload.get(part) if isinstance(payload, Mapping) else None
