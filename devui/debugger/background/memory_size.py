"""Estimates the memory of items, so that buffers can be bounded by bytes (R60)."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from itertools import chain
from sys import getsizeof
from typing import Any, Final

_PLAIN: Final = frozenset({str, bytes, int, float, bool, type(None)})
"""The types that messages mostly consist of."""


def bytes_of(item: Any) -> int:
    """Return the memory of an item, including the texts and parts it consists of, in bytes."""
    parts: Iterable[Any] = ()
    if names := _names(type(item)):
        parts = [getattr(item, name) for name in names]
    elif isinstance(item, list | tuple):
        parts = item
    elif isinstance(item, dict):
        parts = chain(item.keys(), item.values())
    size = getsizeof(item)
    for part in parts:
        size += getsizeof(part) if type(part) in _PLAIN else bytes_of(part)
    return size


_NAMES: Final[dict[type, tuple[str, ...]]] = {}
"""A cache of the fields of dataclasses; every message is measured twice."""


def _names(kind: type) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
    return _NAMES[kind]
