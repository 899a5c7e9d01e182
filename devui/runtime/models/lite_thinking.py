"""How much a model shall think, in litellm's words (adk-runtime 9.4).

google-genai asks by a level, by a budget of tokens, or only to see the thoughts. litellm hands on
`thinking`, with a budget, and `reasoning_effort`; which of them a model takes, it knows itself.
"""

from dataclasses import dataclass
from typing import Any

from google.genai import types

from devui.runtime.models.chat_dialect import Json

_LEAST = 1024
"""The smallest budget of Claude."""
_EFFORTS = {"minimal": _LEAST, "low": 1024, "medium": 2048, "high": 4096}
"""What levels cost where they are budgets."""
_GEMINIS_LEAST = {"gemini-2.5-pro": 128, "gemini-2.5-flash-lite": 512}
_TOP_P = 0.95
"""The smallest share of tokens that Claude takes while it thinks."""
_ON = ("enabled", "adaptive")


@dataclass(frozen=True, slots=True)
class Thinker:
    """What a model can be told about thinking."""

    name: str
    """Its name in lower case."""
    claude: bool
    gemini: bool
    budgets: bool
    """Whether it takes `thinking`."""
    efforts: bool
    """Whether it takes `reasoning_effort`."""
    minimal: bool
    """Whether that may be `minimal`."""
    none: bool
    """Whether that may be `none`."""
    adaptive: bool
    """Whether litellm has it as a Claude that decides itself how much it thinks."""

    @property
    def _by_level_alone(self) -> bool:
        """Whether it is a Gemini whose budgets have become levels."""
        return self.gemini and "gemini-3" in self.name

    @property
    def _decides(self) -> bool:
        """Whether it is a Claude that takes no budget."""
        return self.claude and _is_claude(self.name, "4-7", ("opus",))

    @property
    def _may_decide(self) -> bool:
        newer = self._decides or _is_claude(self.name, "4-6", ("opus", "sonnet"))
        return self.claude and (newer or self.adaptive)

    def asked(self, wish: types.ThinkingConfig, limit: int | None, *, given: bool) -> Json:
        """Arguments of a completion that ask for what the settings wish.

        Args:
            wish: The settings.
            limit: The most tokens of the answer, of which thoughts are a part.
            given: Whether the model's object was made with such arguments, which stay where the
                settings only want the thoughts to be shown.
        """
        level, budget = wish.thinking_level, wish.thinking_budget
        if level and level != types.ThinkingLevel.THINKING_LEVEL_UNSPECIFIED:
            return self._at_level(level.value.lower(), limit)
        if budget == 0:
            return self._off()
        found = self._with_budget(budget, limit) if budget and budget > 0 else {}
        open_still = budget is None or budget < 0
        return self._shown(wish.include_thoughts, limit) if open_still and not given else found

    def _at_level(self, effort: str, limit: int | None) -> Json:
        if self.claude and not self._may_decide:
            return self._claude_at_level(effort, limit)
        known = effort != "minimal" or self.budgets or self.minimal
        return {"reasoning_effort": effort} if self.efforts and known else {}

    def _claude_at_level(self, effort: str, limit: int | None) -> Json:
        """As an effort, or where that would leave no token for the answer, as a budget."""
        budget = _EFFORTS.get(effort)
        if limit is not None and limit <= _LEAST:
            return {}
        fits = limit is None or budget is None or limit > budget
        if effort != "minimal" and fits:
            return {"reasoning_effort": effort} if self.efforts else {}
        if not self.budgets:
            return {}
        most = _LEAST if limit is None or budget is None else min(budget, limit - 1)
        return _budget(most)

    def _off(self) -> Json:
        if self.budgets and not self._by_level_alone:
            if not self.gemini:
                return {"thinking": {"type": "disabled"}}
            always = "gemini-2.5-pro" in self.name
            return {} if always else _budget(0)
        can = self.efforts and (self._by_level_alone or self.none)
        return {"reasoning_effort": "none"} if can else {}

    def _with_budget(self, budget: int, limit: int | None) -> Json:
        if self.budgets and not self._by_level_alone and not self._decides:
            wanted = max(self._least(), budget)
            if not self.claude or limit is None:
                return _budget(wanted)
            return _budget(min(wanted, limit - 1)) if limit > _LEAST else {}
        if not self.efforts:
            return {}
        within = (one for one in ("low", "medium") if budget <= _EFFORTS[one])
        return {"reasoning_effort": next(within, "high")}

    def _least(self) -> int:
        if self.claude:
            return _LEAST
        known = (least for name, least in _GEMINIS_LEAST.items() if name in self.name)
        return next(known, 0) if self.gemini else 0

    def _shown(self, wanted: bool | None, limit: int | None) -> Json:
        """Thinking for the sake of its thoughts; Gemini is told not to when nobody wants them."""
        if not self.budgets or wanted is None:
            return {}
        if not wanted:
            return {"thinking": {"type": "disabled"}} if self.gemini else {}
        if self._by_level_alone:
            return {}
        if not self.claude:
            return {"thinking": {"type": "enabled"}}
        if self._decides:
            return {"thinking": {"type": "adaptive"}}
        return _budget(_LEAST) if limit is None or limit > _LEAST else {}


def without_refused(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments without settings that Claude refuses while it thinks."""
    thinking, effort = arguments.get("thinking"), arguments.get("reasoning_effort")
    on = isinstance(thinking, dict) and thinking.get("type") in _ON
    if not on and effort in (None, "none"):
        return arguments
    kept = {key: value for key, value in arguments.items() if key != "top_k"}
    if kept.get("temperature") != 1:
        kept.pop("temperature", None)
    if kept.get("top_p") is not None and kept["top_p"] < _TOP_P:
        del kept["top_p"]
    return kept


def _budget(tokens: int) -> Json:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def _is_claude(name: str, version: str, sizes: tuple[str, ...]) -> bool:
    """Whether a name is that of this version in one of these sizes, however it is written."""
    plain = name.replace("_", "-").replace(".", "-")
    return any(f"{size}-{version}" in plain for size in sizes)
