"""About how much memory an item holds, so that what waits can be bounded by bytes (R60)."""

from dataclasses import fields, is_dataclass
from sys import getsizeof
from typing import Final


def bytes_of(item: object) -> int:
    """The memory of an item: its own, and that of the texts and parts it consists of."""
    size = getsizeof(item)
    if isinstance(item, str | bytes | int | None):
        return size
    if names := _names(type(item)):
        return size + sum(bytes_of(getattr(item, name)) for name in names)
    if isinstance(item, list | tuple):
        return size + sum(bytes_of(part) for part in item)
    if isinstance(item, dict):
        return size + sum(bytes_of(key) + bytes_of(value) for key, value in item.items())
    return size


_NAMES: Final[dict[type, tuple[str, ...]]] = {}
"""The fields of dataclasses that were weighed; every message is weighed twice."""


def _names(kind: type) -> tuple[str, ...]:
    if kind not in _NAMES:
        _NAMES[kind] = tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
    return _NAMES[kind]
