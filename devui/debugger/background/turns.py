"""Long work beside the event loop, or cut into turns of it, so that others are served meanwhile.

What counts is the size of the work, not the clock: so a slow machine behaves as a quick one does.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, TypeVar

TURN: Final = 131_072
"""Characters of JSON that are made or read in one turn: some milliseconds of work."""
PIECE: Final = 131_072
"""The same on another thread: for so long nothing else runs, the event loop neither."""
_MEMBERS: Final = 1024
"""Members of a container that are looked at together."""
_NODE: Final = 16
"""Characters that one value of a container counts for, beside its text."""

T = TypeVar("T")


class Turns:
    """Lets others have the event loop each time so much work is done."""

    def __init__(self, size: int = TURN) -> None:
        self._size = size
        self._work = 0

    async def after(self, size: int) -> None:
        """Count work of this size, and wait for a turn when it is due."""
        self._work += size
        if self._work >= self._size:
            self._work = 0
            await asyncio.sleep(0)


async def beside(value: object, work: Callable[[], T]) -> T:
    """The result of work on a JSON value; on a large one it is done on another thread."""
    return await asyncio.to_thread(work) if is_large(value) else work()


def is_large(value: object, limit: int = TURN) -> bool:
    """Whether a JSON value is more than so much work; looks at no more of it than that."""
    return _weight(value, limit) > limit


def pieces(value: Any) -> Iterator[tuple[Any, bool]]:
    """A list or dict in parts that have some of its members each, in order.

    The second is whether the part is small enough to be encoded or searched in one go; if not, it
    has one member.
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
    """The JSON of a value.

    The encoder lets no other thread run until it has ended: so it gets a large value in parts.
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
    """How much work a JSON value is; anything above the limit, once it is known to be above."""
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
