"""The guard: lets no tool with effects run a second time before somebody has said so.

Pure and synchronous; who calls it carries out what it rules. A run has one if it goes over ground
that was covered before: a fork that runs, a rewind, a replay with live tools. It knows what the
calls of that ground returned, and hands each result out once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from devui.debugger.guard.effects import UNKNOWN, ToolEffect
from devui.debugger.guard.recorded import RecordedCall

Policy = Literal["ask", "recorded", "run"]
"""Of a tool that has run before and is not safe: hold it and ask; take the recorded result where
the arguments are the same, and ask otherwise; run it again."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to become of a call."""

    do: Literal["run", "ask", "answer"]
    effect: ToolEffect
    offer: RecordedCall | None = None
    """What the tool returned before, with these arguments or with others."""
    exact: bool = False
    """The arguments of the offer are the same."""


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
        self._ran = {call.tool for call in recorded}
        self._allowed_calls: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def watches(self) -> bool:
        """Whether there is any tool that it would ask about."""
        return any(not self._effects.get(tool, UNKNOWN).is_safe for tool in self._ran)

    def allow(self, tool: str, args: Mapping[str, Any]) -> None:
        """Let one call with these arguments run: somebody has decided about it already."""
        self._allowed_calls.append((tool, args))

    def rule(self, tool: str, args: Mapping[str, Any]) -> Ruling:
        """What is to become of a call that is about to be made; its record is used up by it."""
        effect = self._effects.get(tool, UNKNOWN)
        if (tool, args) in self._allowed_calls:
            self._allowed_calls.remove((tool, args))
            self._take(tool, args)
            return Ruling("run", effect)
        if self.policy == "run" or effect.is_safe or tool not in self._ran:
            return Ruling("run", effect)
        offer = self._take(tool, args)
        exact = offer is not None and offer.args == args
        is_answered = self.policy == "recorded" and exact
        return Ruling("answer" if is_answered else "ask", effect, offer, exact)

    def _take(self, tool: str, args: Mapping[str, Any]) -> RecordedCall | None:
        """The first record of the tool that is left, one with the same arguments before others."""
        of_tool = [call for call in self._remaining if call.tool == tool]
        record = next((call for call in of_tool if call.args == args), None)
        record = record or next(iter(of_tool), None)
        if record is not None:
            self._remaining.remove(record)
        return record
