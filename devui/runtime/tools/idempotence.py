"""`idempotent`: marks functions that may be called twice (resume seed)."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_MARK = "__devui_idempotent__"


def idempotent(func: F) -> F:
    """Say of a tool's function that calling it twice does what calling it once does.

    When a run is cut off while the tool is at work, its outcome is unknown. A tool with this mark
    is then simply run again; for others a person is asked. The decorator returns the function
    itself.
    """
    setattr(func, _MARK, True)
    return func


def is_idempotent(func: Callable[..., Any]) -> bool:
    """Whether the function, or what a partial is made of, has the mark."""
    while isinstance(func, partial):
        func = func.func
    return getattr(func, _MARK, False) is True
