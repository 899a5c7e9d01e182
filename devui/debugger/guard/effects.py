"""The effects of a tool's calls on the world, and who declares them (dev-uis 4.1, feature 19).

One concept for everything that may run a call again: resumes, forks, rewinds, replays and trials.
What a person has declared for a tool of the app comes first, then what its code declares. The hint
of a tool's server is no promise, and a tool without a declaration counts as having effects.
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
"""What a person can declare about a tool."""
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
"""The framework's own calls, which affect nothing but the session."""

_SAFE: Final = frozenset({"read_only", "idempotent"})


@dataclass(frozen=True, slots=True)
class ToolEffect:
    """The effect of a tool, and who declares it."""

    effect: Class
    source: Source
    by: str = ""
    """The person who declared it; "" for other sources."""

    @property
    def is_safe(self) -> bool:
        """Whether it may run again without asking; a hint isn't enough."""
        return self.effect in _SAFE and self.source != "hint"


UNKNOWN: Final = ToolEffect("unknown", "nobody")


def from_code(mark: Effect | None) -> ToolEffect:
    """Return the effect that a mark in a tool's code stands for."""
    if mark is None:
        return UNKNOWN
    return ToolEffect("idempotent", "hint") if mark == "hint" else ToolEffect(mark, "code")


def marks_of(agents: Iterable[AgentInfo]) -> Iterator[tuple[str, Effect | None]]:
    """Yield the tools that the agents of a loaded app name, with their marks in code."""
    return ((tool, agent.effects.get(tool)) for agent in agents for tool in agent.tools)


async def tool_effects(
    journal: Journal, app: str, marks: Iterable[tuple[str, Effect | None]] = ()
) -> dict[str, ToolEffect]:
    """Return the known effects of the app's tools, by name.

    `marks` are those in code. If two agents have tools of the same name with different marks, the
    effect of that name is unknown.
    """
    effects: dict[str, ToolEffect] = {}
    for tool, mark in marks:
        says = from_code(mark)
        effects[tool] = says if effects.get(tool, says) == says else UNKNOWN
    rows = await journal.tool_effects.of(app)
    return effects | {row.tool: ToolEffect(row.effect, "person", row.actor) for row in rows}
