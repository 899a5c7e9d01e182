"""Copies of state values, whatever users put into them (adk-runtime 2.4)."""

import copy
from collections.abc import Mapping
from typing import Any

_IMMUTABLE = (str, int, float, bool, bytes, type(None))


class NotCopyableError(TypeError):
    """The value refuses to be copied."""


def deep_copy(value: Any) -> Any:
    """A copy that shares nothing mutable with `value`; raises NotCopyableError."""
    if isinstance(value, _IMMUTABLE):
        return value
    try:
        return copy.deepcopy(value)
    except Exception as error:  # copying runs methods of users' classes
        raise NotCopyableError(f"{type(value).__name__} cannot be copied: {error}") from error


def detached(state: Mapping[str, Any]) -> dict[str, Any]:
    """The same state with values of its own; a value that cannot be copied stays shared."""
    return {key: _detached_value(value) for key, value in state.items()}


def _detached_value(value: Any) -> Any:
    try:
        return deep_copy(value)
    except NotCopyableError:
        return value
