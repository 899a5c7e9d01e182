"""What a tool's calls do to the world, and who says so (dev-uis 4.1, feature 19).

One concept for all who may run a call a second time: a resume, a fork, a rewind, a replay, a trial.
What a person has said of a tool for the app comes first, then what its code says; the hint of a
tool's server is no promise, and what nobody has said anything about counts as having effects.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from devui.debugger.questions.questions import HUMAN_CALLS
from devui.store.journal import Journal
from devui.wire.gates import Effect
from devui.wire.messages import AgentInfo

Class = Literal["read_only", "idempotent", "effects", "unknown"]
EffectChoice = Literal["read_only", "idempotent", "effects"]
"""What a person can say of a tool."""
EFFECT_CHOICES: Final[frozenset[str]] = frozenset(get_args(EffectChoice))
Source = Literal["person", "code", "hint", "nobody"]

FRAMEWORK_CALLS: Final = frozenset(
    {
        "transfer_to_agent",
        "exit_loop",
        "set_model_response",
        "finish_task",
        "get_user_choice",
        *HUMAN_CALLS,
    }
)
"""Calls of the framework's own, which act on nothing but the session."""

_SAFE: Final = frozenset({"read_only", "idempotent"})


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """What a tool does."""

    effect: Class
    source: Source
    by: str = ""
    """Which person says it."""

    @property
    def is_safe(self) -> bool:
        """Whether it may run again without a question; a hint is not enough."""
        return self.effect in _SAFE and self.source != "hint"


UNKNOWN: Final = ToolEffect("unknown", "nobody")


def from_code(mark: Effect | None) -> ToolEffect:
    """What the mark of a tool means."""
    if mark is None:
        return UNKNOWN
    return ToolEffect("idempotent", "hint") if mark == "hint" else ToolEffect(mark, "code")


def marks_of(agents: Iterable[AgentInfo]) -> Iterator[tuple[str, Effect | None]]:
    """The marks of the tools that the agents of a loaded app name."""
    return ((tool, agent.effects.get(tool)) for agent in agents for tool in agent.tools)


async def tool_effects(
    journal: Journal, app: str, marks: Iterable[tuple[str, Effect | None]] = ()
) -> dict[str, ToolEffect]:
    """What is known of the app's tools by name; of others nothing is.

    `marks` are those of the code. Where two agents' tools of one name say different things, the
    name counts as unknown.
    """
    effects: dict[str, ToolEffect] = {}
    for tool, mark in marks:
        says = from_code(mark)
        effects[tool] = says if effects.get(tool, says) == says else UNKNOWN
    rows = await journal.tool_effects.of(app)
    return effects | {row.tool: ToolEffect(row.effect, "person", row.actor) for row in rows}
