"""What the session's models were asked, and what that costs."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """One agent and one model; tokens are grouped by thousands."""

    agent: str
    model: str
    answers: str
    input: str
    """Tokens of prompts that came from no cache."""
    cached: str
    output: str
    """Tokens of answers without the thinking."""
    thinking: str
    cost: str
    """Dollars; a dash for unknown."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The sums of a session. Goes into `#spending`."""

    template: ClassVar[str] = "usage/spending.html"
    lines: tuple[SpendingLine, ...]
    cost: str
    """`$0.42`; `$0.42+` when some is unknown, a dash when all is."""
    unpriced: str
    """`3 answers`: those whose cost is unknown; "" for none."""
    date: str
    """Of the table of prices."""
