"""Tools of one agent with the same name: a model could call only one of them (adk-runtime 8.2)."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from devui.runtime.calling import unpartialled
from devui.runtime.mistakes import place

_SETTINGS = ("func", "_require_confirmation")


class DuplicateToolError(ValueError):
    """Two tools have the same name; the message says where each comes from."""

    def __init__(self, name: str, first: str, second: str) -> None:
        """Tell of two tools by their origins, such as `pay (agent.py:12)`."""
        super().__init__(
            f"Tool {name!r} is listed twice: {first}. Remove one of the two."
            if first == second
            else f"Two tools are named {name!r}: {first} and {second}. A model can call only one"
            " tool of a name. Rename one of them."
        )


def check_names(origins: Iterable[tuple[str, str]]) -> None:
    """Check the names of the tools that one agent offers, each with its origin.

    Raises:
        DuplicateToolError: two have the same name.
    """
    origin_by_name: dict[str, str] = {}
    for name, origin in origins:
        if name in origin_by_name:
            raise DuplicateToolError(name, origin_by_name[name], origin)
        origin_by_name[name] = origin


def is_same(first: Any, second: Any) -> bool:
    """Whether two tools do the same: one tool, or two made of one function in the same way."""
    if first is second:
        return True
    mine, other = ([vars(each).get(name) for name in _SETTINGS] for each in (first, second))
    return type(first) is type(second) and mine[0] is not None and mine == other


def origin_of(function: Callable[..., Any]) -> str:
    """The function that is called, with `file:line`; of an object that is called, its class."""
    target = unpartialled(function)
    is_named = inspect.isroutine(target) or inspect.isclass(target)
    return place(target if is_named else type(target))
