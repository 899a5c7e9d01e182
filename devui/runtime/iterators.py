"""Iterators in values of agents' code, such as `map(...)`: who reads one uses it up (devui's own).

What is written twice, as an event and as state, would be empty the second time; and whoever only
looks at a value must leave it to the agent. Containers are copied before they are walked, since
threads of the agent may write to them meanwhile.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

logger = logging.getLogger(__name__)

_DEPTH = 4
"""How many containers deep iterators are looked for."""
_CONTAINERS = (dict, list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})
"""What most values hold, asked first since to ask for an iterator takes ten times as long."""


def with_lists(value: Any) -> Any:
    """The value with lists in the place of the iterators in it; the same if there is none.

    Raises whatever an iterator raises.
    """
    return _replaced(value, list, _DEPTH) if _has_iterator(value, _DEPTH) else value


def kept(value: Any) -> Any:
    """`with_lists` for what is stored: of an iterator that breaks off there is the repr."""
    return _replaced(value, _list_or_repr, _DEPTH) if _has_iterator(value, _DEPTH) else value


def with_reprs(value: Any) -> Any:
    """The value to be looked at, with the reprs of iterators in their place."""
    return _replaced(value, repr, _DEPTH) if _has_iterator(value, _DEPTH) else value


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


def _replaced(value: Any, make: Callable[[Iterator[Any]], Any], depth: int) -> Any:
    if isinstance(value, Iterator):
        return make(value)
    if depth and isinstance(value, dict):
        return {k: _replaced(each, make, depth - 1) for k, each in [*dict.items(value)]}
    if depth and isinstance(value, list | tuple):
        return [_replaced(each, make, depth - 1) for each in [*value]]
    return value
