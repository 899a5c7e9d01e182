"""The words of the debugger that both columns use: gates, and what a person decides at them."""

from dataclasses import dataclass
from typing import Literal, get_args

Action = Literal["edit", "mock", "skip", "reject", "drop"]
"""What a person may do to what is held: change it; answer in the place of a model or a tool, with a
value, with nothing, or with an error; let an event fall."""


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
