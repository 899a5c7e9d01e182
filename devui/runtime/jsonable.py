"""Values of agents' code in JSON's types, whatever they are (devui's own)."""

import logging
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from pydantic_core import to_jsonable_python

# Iterators in values of agents' code, such as `map(...)`: who reads one uses it up.
#
# What is written twice, as an event and as state, would be empty the second time; and whoever
# only looks at a value must leave it to the agent. Containers are copied before they are walked,
# since threads of the agent may write to them meanwhile.


logger = logging.getLogger(__name__)

_ITERATOR_DEPTH = 4
"""How many containers deep iterators are looked for."""
_CONTAINERS = (dict, list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})
"""What most values hold, asked first since to ask for an iterator takes ten times as long."""


def with_lists(value: Any) -> Any:
    """The value with lists in the place of the iterators in it; the same if there is none.

    Raises whatever an iterator raises.
    """
    return (
        _replace(value, list, _ITERATOR_DEPTH) if _has_iterator(value, _ITERATOR_DEPTH) else value
    )


def storable(value: Any) -> Any:
    """`with_lists` for what is stored: of an iterator that breaks off there is the repr."""
    return (
        _replace(value, _list_or_repr, _ITERATOR_DEPTH)
        if _has_iterator(value, _ITERATOR_DEPTH)
        else value
    )


def with_reprs(value: Any) -> Any:
    """The value to be looked at, with the reprs of iterators in their place."""
    return (
        _replace(value, repr, _ITERATOR_DEPTH) if _has_iterator(value, _ITERATOR_DEPTH) else value
    )


def _has_iterator(value: Any, depth: int) -> bool:
    if not depth or not isinstance(value, _CONTAINERS):
        return isinstance(value, Iterator)
    inner = dict.values(value) if isinstance(value, dict) else value
    if _SCALARS.issuperset(map(type, inner)):  # no other thread can come between
        return False
    return any(type(each) not in _SCALARS and _has_iterator(each, depth - 1) for each in [*inner])


def _list_or_repr(iterator: Iterator[Any]) -> Any:
    try:
        return list(iterator)
    except Exception:  # agent code's own
        logger.exception("%r broke off when it was read to be stored; this is stored.", iterator)
        return repr(iterator)


def _replace(value: Any, make: Callable[[Iterator[Any]], Any], depth: int) -> Any:
    if isinstance(value, Iterator):
        return make(value)
    if depth and isinstance(value, dict):
        return {k: _replace(each, make, depth - 1) for k, each in [*dict.items(value)]}
    if depth and isinstance(value, list | tuple):
        return [_replace(each, make, depth - 1) for each in [*value]]
    return value


# Texts with halves of characters in them, which nothing can send or keep.
#
# JSON can name half of a character, such as an emoji that was cut in two, and Python has halves
# in the names of files that are not UTF-8 (R53).


_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_FIRST = ("\ud800", "\udbff")
"""The first and the last of the halves that come before another one."""


def sendable(text: str) -> str:
    """The text with its halves joined; those whose other half is missing are spelled out."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _PAIR.sub(_join, text).encode(errors="backslashreplace").decode()
    return text


def without_open_half(text: str) -> tuple[str, str]:
    """The text up to half of a character at its end, whose other half may be to come; and that."""
    cut = len(text) - (_FIRST[0] <= text[-1:] <= _FIRST[1])
    return text[:cut], text[cut:]


def half_told(error: UnicodeEncodeError) -> str:
    """What is wrong with a text that was to be sent."""
    return f"{error.object[error.start]!r} contains a lone surrogate and can't be sent."


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


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
