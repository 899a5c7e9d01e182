"""Callbacks as users write them: one or a list, sync or async, with names or by position.

See adk-runtime 6.5.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from devui.runtime.calling import call
from devui.runtime.mistakes import given, place

_BY_POSITION = (
    "tool",
    "args",
    "tool_context",
    "response",
    "tool_response",
    "callback_context",
    "llm_request",
    "llm_response",
    "error",
)
"""The order in which values are passed to a callback whose parameters have other names."""

Callback = Callable[..., Any]

Callbacks = Callback | list[Callback] | None
"""What the fields of agents for callbacks take."""


def as_list(callbacks: Callbacks) -> list[Callback]:
    """The callbacks of an agent's field, which may hold none, one or several."""
    if callbacks is None:
        return []
    return callbacks if isinstance(callbacks, list) else [callbacks]


def check_callbacks(name: str, callbacks: Any) -> None:
    """Refuse what cannot be called.

    Raises:
        ValueError: a callback of the field `name` is no function.
    """
    several = isinstance(callbacks, list)
    for callback in as_list(callbacks):
        if not callable(callback):
            raise ValueError(  # noqa: TRY004  pydantic tells ValueErrors
                f"`{name}` {'holds' if several else 'is'} {given(callback)}; give a function, or a"
                " list of functions."
            )


def check_result(result: object, wanted: type, name: str, callbacks: list[Callback]) -> None:
    """Refuse a result of another type than the callbacks of the field `name` may return.

    Raises:
        TypeError: it is another type.
    """
    if not isinstance(result, wanted):
        told = ", ".join(place(callback) for callback in callbacks)
        raise TypeError(
            f"`{name}` returned {given(result)}: {told} must return {wanted.__name__} to answer,"
            " or None to go on."
        )


def is_truthy(result: object) -> bool:
    """Agent and model callbacks: a truthy result ends the chain (adk-runtime 6.5)."""
    return bool(result)


def is_not_none(result: object) -> bool:
    """Error and tool callbacks: any result but None ends the chain (adk-runtime 6.5)."""
    return result is not None


async def first_result(
    callbacks: Iterable[Callback], stops: Callable[[object], bool], /, **values: Any
) -> Any:
    """Call the callbacks in order until a result `stops` the chain; that result, or None.

    Values are passed by name; to a callback that has other names, by position. Sync callbacks run
    in threads. What a callback raises passes through.

    Raises:
        TypeError: a callback takes the values neither way.
    """
    for callback in callbacks:
        if _takes_names(callback, values):
            result = await call(callback, **values)
        else:
            positional = sorted(values, key=_BY_POSITION.index)
            result = await call(callback, *(values[name] for name in positional))
        if stops(result):
            return result
    return None


def _takes_names(callback: Callback, values: dict[str, Any]) -> bool:
    """Whether the values go by name; False if only by position."""
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # built-ins without a signature
        return True
    if _binds(signature, **values):
        return True
    if _binds(signature, *values.values()):
        return False
    raise TypeError(
        f"The callback {place(callback)} takes {signature}, but is called with"
        f" {', '.join(values)}. Give it these parameters."
    )


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
