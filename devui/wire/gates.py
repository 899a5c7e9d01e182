"""The debugger's vocabulary on both sides of the wire: gates, verdicts and commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

Action = Literal["edit", "mock", "skip", "reject", "drop"]
"""What a person may do to what is held: change it; answer for a model or tool with a value, with
nothing, or with an error; or drop the event."""


GUARD: Final = "guard"
"""The name under which the guard answers a call with a recorded result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A person's decision about what is held; travels as JSON inside a `Reply`."""

    action: Action
    value: str
    """JSON text: the replacement for `edit`, the answer for `mock`, the reason for `reject`."""
    mark: str
    """JSON text: the mark that the resulting event gets in its custom metadata; "" for none."""
    committed: str = "{}"
    """JSON text: the committed values, if any, of the state keys that the held event writes."""
    effects: str = "{}"
    """JSON text: the actions that belong to a recorded result, as `EventActions` in wire form."""


EDITED = "devui_edited"
"""Key in an event's custom metadata: the marks of the edits that people made to it."""

HandGate = Literal["before_model", "after_model", "before_tool", "after_tool", "before_commit"]
HANDS: frozenset[HandGate] = frozenset(get_args(HandGate))
"""The gates at which people can change what is held."""

SKIPPED = {"skipped": "the call was skipped by a person"}
"""The result of a tool call that a person skipped."""
REJECTED = "the call was rejected by a person"
"""The error of a tool call that a person rejected without a reason."""


EFFECTS = "devui_effects"
"""Key in an event's custom metadata: the effects of its calls, by call id. `read_only`,
`idempotent` or `effects` is what the tool's author declared in code; `hint` means that the tool's
server claims that calls may be repeated."""

Effect = Literal["read_only", "idempotent", "effects", "hint"]

WorkerGate = Literal[
    "enter_agent",
    "before_model",
    "after_model",
    "before_tool",
    "after_tool",
    "leave_agent",
]
"""Where a worker asks the server before it continues, if the gate is armed for the run. The two
gates around a commit need no request: an `Append` waits for its answer anyway."""

ORDERS: Final[Mapping[str, str]] = {
    "continue": "Continue",
    "pause": "Pause",
    "step_event": "Step",
    "step_half": "Half",
    "step_into": "Into",
    "step_out": "Out",
    "run_to": "Run to next similar event",
    "stop_after_event": "End after event",
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
"""The names of commands, as the page's buttons and notes, the log and the terminal show them."""
PLANS: Final[Mapping[str, str]] = {
    "pause": "running up to the next commit",
    "step_event": "running through the next commit",
    "step_half": "running to the next half step",
    "step_into": "running to the next gate",
    "step_out": "running until this call returns",
    "run_to": "running to the next similar event",
    "stop_after_event": "running to the next commit, then stopping",
}
"""How far a run continues after a command."""


def original(gate: str, payload: Any) -> Any:
    """Return the part of the held value that an edit replaces."""
    part = {"before_tool": "args", "after_tool": "result"}.get(gate)
    if part is None:
        return payload
    return payload.get(part) if isinstance(payload, Mapping) else None
