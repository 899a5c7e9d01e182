"""A list made of another, member by member, that grows as that one does (devui's own)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

S = TypeVar("S")
T = TypeVar("T")


class GrowingMap(Generic[S, T]):
    """The results of a function for lists of which each begins mostly as the one before.

    The results are always the same as if they were made of the whole list: those of the members
    before the first that differs are kept. Finding that one is quick, since the comparison of lists
    only looks into members that are not the same objects.
    """

    def __init__(self) -> None:
        self._given: list[S] = []
        self._made: list[T] = []
        self._arguments: tuple[object, ...] = ()

    def __len__(self) -> int:
        return len(self._made)

    def __call__(self, function: Callable[..., T], given: list[S], *arguments: object) -> list[T]:
        """What the function makes of each member, and of the arguments; a list of the caller's own.

        It is always the same function.
        """
        kept = common_length(self._given, given) if arguments == self._arguments else 0
        made = self._made[:kept]
        made += [function(member, *arguments) for member in given[kept:]]
        self._given, self._made, self._arguments = list(given), made, arguments
        return made.copy()


def common_length(one: list[S], other: list[S]) -> int:
    """How many members at the beginning of two lists are equal."""
    equal, unknown = 0, min(len(one), len(other))
    while equal < unknown:
        middle = (equal + unknown + 1) // 2
        if one[equal:middle] == other[equal:middle]:
            equal = middle
        else:
            unknown = middle - 1
    return equal
