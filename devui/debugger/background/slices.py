"""Keeps long work from blocking the event loop: in another thread, or in short slices.

Slices are measured by the size of the work, not by time, so that all machines behave alike.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

SLICE: Final = 131_072
"""Characters of JSON that are written or read in one slice: some milliseconds of work."""
PIECE: Final = 131_072
"""The same for one step in another thread, during which nothing else runs, not even the event
loop."""
_MEMBERS: Final = 1024
"""The maximum number of members of a container to process together."""
_NODE: Final = 16
"""The weight of a value in a container, in characters, in addition to its text."""

T = TypeVar("T")


class Yielder:
    """Yields the event loop to other tasks after every `size` units of work."""

    def __init__(self, size: int = SLICE) -> None:
        self._size = size
        self._work = 0

    async def after(self, size: int) -> None:
        """Count work of this size, and yield when a slice is over."""
        self._work += size
        if self._work >= self._size:
            self._work = 0
            await asyncio.sleep(0)


async def beside(value: object, work: Callable[[], T]) -> T:
    """Do work on a JSON value, in another thread if the value is large."""
    return await asyncio.to_thread(work) if is_large(value) else work()


def is_large(value: object, limit: int = SLICE) -> bool:
    """Whether a JSON value weighs more than the limit; reads no more of it than needed."""
    return _weight(value, limit) > limit


def pieces(value: Any) -> Iterator[tuple[Any, bool]]:
    """Split a list or dict into parts with some of its members each, in order.

    Each part comes with whether it is small enough to be encoded or searched in one go; one that
    isn't has a single member.
    """
    items = list(value.items()) if isinstance(value, dict) else value
    start, count = 0, min(len(items), _MEMBERS)
    while True:
        piece = type(value)(items[start : start + count])
        is_small = _weight(piece, PIECE) <= PIECE
        if not is_small and len(piece) > 1:
            count //= 2
            continue
        yield piece, is_small
        start, count = start + count, min(2 * count, _MEMBERS)
        if start >= len(items):
            return


def encode(value: Any, encoder: json.JSONEncoder) -> str:
    """Return the JSON of a value.

    The encoder blocks all other threads until it is done, so it gets a large value in parts.
    """
    return "".join(_encode(value, encoder))


def _encode(value: Any, encoder: json.JSONEncoder) -> Iterator[str]:
    if not value or not isinstance(value, dict | list):
        yield encoder.encode(value)
        return
    before, closing = "{}" if isinstance(value, dict) else "[]"
    for piece, small in pieces(value):
        yield before
        before = encoder.item_separator
        if small:
            yield encoder.encode(piece)[1:-1]
        elif isinstance(piece, list):
            yield from _encode(piece[0], encoder)
        else:
            [(key, member)] = piece.items()
            yield encoder.encode({key: 0})[1:-2]
            yield from _encode(member, encoder)
    yield closing


def _weight(value: object, limit: int) -> int:
    """Return how much work a JSON value is; counting stops above the limit."""
    weight, waiting = _NODE, [value]
    if isinstance(value, str):
        return weight + len(value)
    while waiting and weight <= limit:
        each = waiting.pop()
        members: Iterable[object] = ()
        if isinstance(each, dict):
            weight += sum(map(len, each)) if len(each) <= limit else limit
            members = each.values()
        elif isinstance(each, list | tuple):
            members = each
        else:
            continue
        weight += _NODE * len(each)
        if weight > limit:  # many members are much work, however small they are
            break
        for member in members:
            kind = type(member)
            if kind is str:
                weight += len(member)
            elif kind is dict or kind is list:
                waiting.append(member)
    return weight
