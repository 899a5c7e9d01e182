"""The use of models in a session, and its cost."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """One agent and one model; tokens are written with thousands separators."""

    agent: str
    model: str
    answers: str
    input: str
    """Prompt tokens that didn't come from a cache."""
    cached: str
    output: str
    """Tokens of answers, without thinking."""
    thinking: str
    cost: str
    """Dollars; a dash if unknown."""


@dataclass(frozen=True, slots=True)
class Spending:
    """The tokens and cost of a session. Goes into `#spending`."""

    template: ClassVar[str] = "usage/spending.html"
    lines: tuple[SpendingLine, ...]
    cost: str
    """`$0.42`; `$0.42+` if part of it is unknown, a dash if all is."""
    unpriced: str
    """`3 answers`: those whose cost is unknown; "" for none."""
    date: str
    """The date of the price table."""
