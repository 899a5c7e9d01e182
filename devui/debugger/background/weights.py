"""About how much memory an item holds, so that what waits can be bounded by bytes (R60)."""

import sys
from dataclasses import fields, is_dataclass


def bytes_of(item: object) -> int:
    """The memory of an item: its own, and that of the texts and parts it consists of."""
    size = sys.getsizeof(item)
    if is_dataclass(item):
        return size + sum(bytes_of(getattr(item, field.name)) for field in fields(item))
    if isinstance(item, list | tuple):
        return size + sum(bytes_of(part) for part in item)
    if isinstance(item, dict):
        return size + sum(bytes_of(key) + bytes_of(value) for key, value in item.items())
    return size
