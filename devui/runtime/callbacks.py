"""Callbacks as users write them: one or a list, sync or async, with names or by position."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from devui.runtime.calling import call

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


def as_list(callbacks: Callback | list[Callback] | None) -> list[Callback]:
    """The callbacks of an agent's field, which may hold none, one or several."""
    if callbacks is None:
        return []
    return callbacks if isinstance(callbacks, list) else [callbacks]


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
    """False only if the signature refuses the names but takes the values by position."""
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # built-ins without a signature
        return True
    return _binds(signature, **values) or not _binds(signature, *values.values())


def _binds(signature: inspect.Signature, *args: Any, **kwargs: Any) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True
