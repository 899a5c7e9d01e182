"""The list of cases: what is played on both runtimes, and where they are meant to differ."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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


CASES: dict[str, Case] = {}


def add(case: Case) -> None:
    """Add a case to the list; its name must be new."""
    if case.name in CASES:
        raise ValueError(f"two cases are named {case.name!r}")
    CASES[case.name] = case


def case(
    name: str | None = None, *, differs: Difference | None = None, unordered: bool = False
) -> Callable[[Play], Play]:
    """Add a function to the list; without a name, its own with blanks is used."""

    def register(play: Play) -> Play:
        add(Case(name or play.__name__.replace("_", " "), play, differs, unordered))
        return play

    return register
