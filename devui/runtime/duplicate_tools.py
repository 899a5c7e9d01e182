"""Detects tools of one agent with the same name: a model could call only one (adk-runtime 8.2)."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from devui.runtime.calling import unpartialled
from devui.runtime.mistakes import place

_SETTINGS = ("func", "_require_confirmation")


class DuplicateToolError(ValueError):
    """Two tools have the same name; the message says where each comes from."""

    def __init__(self, name: str, first: str, second: str) -> None:
        """Describe two tools by their origins, such as `pay (agent.py:12)`."""
        super().__init__(
            f"Tool {name!r} is listed twice: {first}. Remove one of the two."
            if first == second
            else f"Two tools are named {name!r}: {first} and {second}. A model can call only one"
            " tool per name. Rename one of them."
        )


def check_names(origins: Iterable[tuple[str, str]]) -> None:
    """Raise DuplicateToolError if two tools of an agent, given as name and origin, share a name."""
    origin_by_name: dict[str, str] = {}
    for name, origin in origins:
        if name in origin_by_name:
            raise DuplicateToolError(name, origin_by_name[name], origin)
        origin_by_name[name] = origin


def is_same(first: Any, second: Any) -> bool:
    """Return whether two tools are the same, or made from one function with the same settings."""
    if first is second:
        return True
    mine, other = ([vars(each).get(name) for name in _SETTINGS] for each in (first, second))
    return type(first) is type(second) and mine[0] is not None and mine == other


def origin_of(function: Callable[..., Any]) -> str:
    """Return the name of the called function, or the class of a called object, with `file:line`."""
    target = unpartialled(function)
    is_named = inspect.isroutine(target) or inspect.isclass(target)
    return place(target if is_named else type(target))
