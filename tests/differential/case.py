"""The list of cases that are played on both runtimes, and their intended differences."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tests.differential.stage import Stage

Play = Callable[[Stage], Awaitable[Any]]


@dataclass(frozen=True)
class Difference:
    """An intended difference, as agent authors read it in docs/guide/adk-differences.md."""

    topic: str
    here: str
    there: str
    why: str
    without: Callable[[Any], Any] | None = None
    """Removes the difference from a record, so that the rest can be compared."""


@dataclass(frozen=True)
class Case:
    """A scenario that is played on both runtimes."""

    name: str
    play: Play
    differs: Difference | None = None
    unordered: bool = False
    """Whether concurrent events and requests may come in any order."""
    needs: str | None = None
    """The package, brought by an extra, that the case needs."""

    @property
    def is_separable(self) -> bool:
        """Whether its difference can be removed from a record."""
        return self.differs is not None and self.differs.without is not None

    @property
    def missing(self) -> str | None:
        """The package that the case needs and this Python lacks, if any."""
        return self.needs if self.needs and find_spec(self.needs) is None else None


CASES: dict[str, Case] = {}


def add(case: Case) -> None:
    """Add a case to the list. Raises ValueError if the name is taken."""
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
    """Return a decorator that adds a function to the list, named after the function by default."""

    def register(play: Play) -> Play:
        add(Case(name or play.__name__.replace("_", " "), play, differs, unordered, needs))
        return play

    return register
