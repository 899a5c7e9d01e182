"""The list of cases: what is played on both runtimes, and where they are meant to differ."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tests.differential.stage import Stage

Play = Callable[[Stage], Awaitable[Any]]


@dataclass(frozen=True)
class Difference:
    """A difference on purpose, as agent authors read it in docs/guide/adk-differences.md."""

    topic: str
    here: str
    there: str
    why: str
    without: Callable[[Any], Any] | None = None
    """Takes the difference out of a record, so that everything else can be compared."""


@dataclass(frozen=True)
class Case:
    """One thing done on both runtimes."""

    name: str
    play: Play
    differs: Difference | None = None
    unordered: bool = False
    """Whether what happens at the same time may come in any order."""
    needs: str | None = None
    """A package that an extra brings, without which the case cannot be played."""

    @property
    def is_separable(self) -> bool:
        """Whether its difference can be taken out of a record."""
        return self.differs is not None and self.differs.without is not None

    @property
    def missing(self) -> str | None:
        """What it needs and this Python has not."""
        return self.needs if self.needs and find_spec(self.needs) is None else None


CASES: dict[str, Case] = {}


def add(case: Case) -> None:
    """Add a case to the list; its name must be new."""
    if case.name in CASES:
        raise ValueError(f"two cases are named {case.name!r}")
    CASES[case.name] = case


def case(
    name: str | None = None,
    *,
    differs: Difference | None = None,
    unordered: bool = False,
    needs: str | None = None,
) -> Callable[[Play], Play]:
    """Add a function to the list; without a name, its own with blanks is used."""

    def register(play: Play) -> Play:
        add(Case(name or play.__name__.replace("_", " "), play, differs, unordered, needs))
        return play

    return register
