"""What an agent holds, for a copy of it (adk-runtime 5.1)."""

import inspect
from typing import Any


def rebound(value: Any, old: object, new: object) -> Any:
    """`value` for the copy: lists of its own, and its own methods instead of the original's."""
    if isinstance(value, list):
        return [rebound(item, old, new) for item in value]
    if inspect.ismethod(value) and value.__self__ is old:
        return value.__func__.__get__(new)
    return value
