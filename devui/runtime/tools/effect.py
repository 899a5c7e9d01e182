"""What a tool's call does to the world, as its author says: marks for its function.

Whoever has to decide about a call that is perhaps made a second time reads them: a run that was cut
off while the tool was at work (resume seed), a fork, a replay (dev-uis 4.1, feature 19).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar, get_args

F = TypeVar("F", bound=Callable[..., Any])

Effect = Literal["read_only", "idempotent", "effects"]
"""It changes nothing; calling it twice does what calling it once does; each call changes something.
"""

_MARK = "__devui_effect__"


def read_only(func: F) -> F:
    """Say of a tool's function that it changes nothing; it is called again without a question.

    Returns the function itself. What it writes to the session's state does not count.
    """
    return _marked(func, "read_only")


def idempotent(func: F) -> F:
    """Say of a tool's function that calling it twice does what calling it once does.

    When a run is cut off while the tool is at work, its outcome is unknown. A tool with this mark
    is then simply run again; for others a person is asked. The decorator returns the function
    itself.
    """
    return _marked(func, "idempotent")


def has_effects(func: F) -> F:
    """Say of a tool's function that each call changes the world: it books, sends, pays.

    A person is asked before it is called a second time. Returns the function itself.
    """
    return _marked(func, "effects")


def effect_of(func: Callable[..., Any]) -> Effect | None:
    """The mark of the function, or of what a partial is made of; None for one without."""
    while isinstance(func, partial):
        func = func.func
    mark: Effect | None = getattr(func, _MARK, None)
    return mark if mark in get_args(Effect) else None


def _marked(func: F, effect: Effect) -> F:
    setattr(func, _MARK, effect)
    return func
