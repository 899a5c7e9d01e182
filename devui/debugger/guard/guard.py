"""The guard: lets no tool with effects run a second time before someone has agreed to it.

Pure and synchronous: callers carry out its rulings. A run has a guard if it repeats earlier events:
in a fork, after a rewind, or in a replay with live tools. The guard knows what the earlier calls
returned, and offers each result once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.guard.effects import UNKNOWN, ToolEffect
from devui.debugger.guard.recorded_calls import RecordedCall

Policy = Literal["ask", "recorded", "run"]
"""What to do with a tool that has run before and isn't safe. `ask`: hold the call and ask;
`recorded`: use the recorded result if the arguments are the same, else ask; `run`: run it again."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision of the guard about a call."""

    do: Literal["run", "ask", "answer"]
    effect: ToolEffect
    offer: RecordedCall | None = None
    """What the tool returned before, with these arguments or with others."""
    same_args: bool = False
    """Whether the offer has the same arguments."""


class Guard:
    """The guard of one run."""

    def __init__(
        self,
        policy: Policy,
        effects: Mapping[str, ToolEffect],
        recorded: Sequence[RecordedCall],
    ) -> None:
        self.policy = policy
        self._effects = effects
        self._remaining = list(recorded)
        self._ran = {call.tool for call in recorded if call.is_made}
        self._allowed_calls: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def watches(self) -> bool:
        """Whether there is any tool it would ask about."""
        return any(not self._effects.get(tool, UNKNOWN).is_safe for tool in self._ran)

    def allow(self, tool: str, args: Mapping[str, Any]) -> None:
        """Let one call with these arguments run, since someone has already decided about it."""
        self._allowed_calls.append((tool, args))

    def rule(self, tool: str, args: Mapping[str, Any]) -> Ruling:
        """Decide about a call that is about to be made, and use up its record."""
        effect = self._effects.get(tool, UNKNOWN)
        if (tool, args) in self._allowed_calls:
            self._allowed_calls.remove((tool, args))
            self._take(tool, args)
            return Ruling("run", effect)
        if self.policy == "run" or effect.is_safe or tool not in self._ran:
            return Ruling("run", effect)
        offer = self._take(tool, args)
        same_args = offer is not None and offer.args == args
        if offer is not None and not offer.is_made:
            return Ruling("run", effect)
        is_answered = self.policy == "recorded" and same_args
        return Ruling("answer" if is_answered else "ask", effect, offer, same_args)

    def _take(self, tool: str, args: Mapping[str, Any]) -> RecordedCall | None:
        """Remove and return the tool's best remaining record: the first of a call that was made
        with these arguments, else the first with these arguments, else the first that was made."""
        of_tool = [call for call in self._remaining if call.tool == tool]
        ranks = [
            [call for call in of_tool if call.args == args and call.is_made],
            [call for call in of_tool if call.args == args],
            [call for call in of_tool if call.is_made],
        ]
        record = next((rank[0] for rank in ranks if rank), None)
        if record is not None:
            self._remaining.remove(record)
        return record
