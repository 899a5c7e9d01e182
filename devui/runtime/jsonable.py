"""Converts any value of agents' code to JSON's types (devui's own)."""

import logging
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

# Iterators in values of agents' code, such as `map(...)`: reading one uses it up.
#
# A value that is written twice, as an event and as state, would be empty the second time, and code
# that only inspects a value must leave it to the agent. Containers are copied before they are
# walked, since the agent's threads may write to them meanwhile.


logger = logging.getLogger(__name__)

_ITERATOR_DEPTH = 4
"""How many containers deep to look for iterators."""
_CONTAINERS = (dict, list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})
"""The types of most values, checked first because checking for iterators takes ten times longer."""


def with_lists(value: Any) -> Any:
    """Return the value with its iterators replaced by lists; the same value if it has none.

    Raises whatever an iterator raises.
    """
    return (
        _replace(value, list, _ITERATOR_DEPTH) if _has_iterator(value, _ITERATOR_DEPTH) else value
    )


def storable(value: Any) -> Any:
    """Like `with_lists`, for storage: an iterator that raises is replaced by its repr."""
    return (
        _replace(value, _list_or_repr, _ITERATOR_DEPTH)
        if _has_iterator(value, _ITERATOR_DEPTH)
        else value
    )


def with_reprs(value: Any) -> Any:
    """Return the value for inspection, with its iterators replaced by their reprs."""
    return (
        _replace(value, repr, _ITERATOR_DEPTH) if _has_iterator(value, _ITERATOR_DEPTH) else value
    )


def _has_iterator(value: Any, depth: int) -> bool:
    if not depth or not isinstance(value, _CONTAINERS):
        return isinstance(value, Iterator)
    inner = dict.values(value) if isinstance(value, dict) else value
    if _SCALARS.issuperset(map(type, inner)):  # no other thread can interfere
        return False
    return any(type(each) not in _SCALARS and _has_iterator(each, depth - 1) for each in [*inner])


def _list_or_repr(iterator: Iterator[Any]) -> Any:
    try:
        return list(iterator)
    except Exception:  # whatever the agent's code raises
        logger.exception("%r raised an exception while being read; storing its repr.", iterator)
        return repr(iterator)


def _replace(value: Any, make: Callable[[Iterator[Any]], Any], depth: int) -> Any:
    if isinstance(value, Iterator):
        return make(value)
    if depth and isinstance(value, dict):
        return {k: _replace(each, make, depth - 1) for k, each in [*dict.items(value)]}
    if depth and isinstance(value, list | tuple):
        return [_replace(each, make, depth - 1) for each in [*value]]
    return value


# Texts that contain surrogates, which can't be sent or stored.
#
# JSON can contain a lone surrogate, such as from an emoji cut in two, and Python has them in the
# names of files that are not UTF-8 (R53).


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FIRST = ("\ud800", "\udbff")
"""The first and the last of the high surrogates, which begin a pair."""


def sendable(text: str) -> str:
    """Return the text with surrogate pairs joined and lone surrogates escaped."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _PAIR.sub(_join, text).encode(errors="backslashreplace").decode()
    return text


def without_open_half(text: str) -> tuple[str, str]:
    """Split off a high surrogate at the text's end, whose other half may still follow."""
    cut = len(text) - (_FIRST[0] <= text[-1:] <= _FIRST[1])
    return text[:cut], text[cut:]


def half_told(error: UnicodeEncodeError) -> str:
    """Return what is wrong with a text that can't be sent."""
    return f"{error.object[error.start]!r} contains a lone surrogate and can't be sent."


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


_DEPTH = 50
"""How deep to walk a value that has no JSON form as a whole."""


def jsonable(value: Any, **how: Any) -> Any:
    """Return the value in JSON's types; what has no JSON form is replaced by its repr.

    This includes containers that contain themselves, and values that are nested too deeply.

    Args:
        value: The value to convert.
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
    """Rebuild the value from dicts and lists, with `leaf` applied to the rest and `key` to keys.

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
