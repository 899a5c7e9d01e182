"""Values of agents' code in JSON's types, whatever they are (devui's own)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

_DEPTH = 50
"""How deep a value is walked that has no form in JSON as a whole."""


def jsonable(value: Any, **how: Any) -> Any:
    """The value in JSON's types, with the repr of what has no form in JSON.

    So are told containers that hold themselves, and what is nested too deeply.

    Args:
        value: What is to be kept.
        how: Settings of pydantic's `to_jsonable_python`.
    """
    try:
        return to_jsonable_python(value, serialize_unknown=True, **how)
    except ValueError:
        return walked(value, partial(_leaf, how), str)


def walked(
    value: Any,
    leaf: Callable[[Any], Any],
    key: Callable[[str], str],
    outer: tuple[int, ...] = (),
) -> Any:
    """The value in dicts and lists, with `leaf` of all that is in them and `key` of their keys.

    A container that is in itself, or too deep, is a leaf: its repr.
    """
    if not isinstance(value, dict | list | tuple):
        return leaf(value)
    if id(value) in outer or len(outer) > _DEPTH:
        return leaf(_repr(value))
    inner = (*outer, id(value))
    if isinstance(value, dict):
        return {key(str(name)): walked(each, leaf, key, inner) for name, each in value.items()}
    return [walked(each, leaf, key, inner) for each in value]


def _leaf(how: dict[str, Any], value: Any) -> Any:
    try:
        return to_jsonable_python(value, serialize_unknown=True, **how)
    except ValueError:
        return _repr(value)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except RecursionError:
        return f"<{type(value).__name__} that is nested too deeply>"
