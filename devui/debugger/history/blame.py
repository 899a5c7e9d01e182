"""Finds what a write changed inside a value, and which write each piece of a value comes from.

Values are JSON. Dicts are compared key by key. In lists, the items that stayed are found first, so
that an item inserted at the front is one addition and not a change of every item after it; items in
between are compared by position.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, TypeAlias

from devui.debugger.history.paths import Path, Step
from devui.store.rows import Json

MaybeJson: TypeAlias = "Json | Absent"
"""A value, or `ABSENT` if there is none."""

_ALIGNED: Final = 400
"""The maximum number of items to align, in both lists together, without the common start and end.
More items are compared by position, since the cost of aligning is quadratic."""


class Absent:
    """The type of `ABSENT`, which stands for a missing value; null is a value."""


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where two values differ; for an addition or removal, the outermost one."""

    path: Path
    """The path in the new value, or for a removal in the old one."""
    old: MaybeJson
    new: MaybeJson


@dataclass(frozen=True, slots=True)
class Piece:
    """A value or part of one, with the number of the write that last changed anything in it."""

    by: int
    inside: dict[Step, "Piece"] = field(default_factory=dict)


def differences(old: MaybeJson, new: MaybeJson) -> list[Difference]:
    """Return where the new value differs from the old one, in the order of the new value."""
    return list(_differences((), old, new))


def blamed(values: Sequence[Json]) -> Piece:
    """Return which write each piece of the last value comes from; `values` are the written values,
    oldest first, and not empty."""
    piece = _fresh(values[0], 0)
    for number, (before, after) in enumerate(pairwise(values), 1):
        piece = _rewrite(piece, before, after, number)
    return piece


def blamed_at(piece: Piece, path: Path) -> int | None:
    """Return the write that last changed the value at the path; None if there is no value."""
    for step in path:
        inner = piece.inside.get(step)
        if inner is None:
            return None
        piece = inner
    return piece.by


def lines(piece: Piece, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """Yield the pieces of a value with their writes; a piece from a single write isn't split."""
    if not piece.inside or _all_by(piece, piece.by):
        yield path, piece.by
        return
    for step, inside in piece.inside.items():
        yield from lines(inside, (*path, step))


def _differences(path: Path, old: MaybeJson, new: MaybeJson) -> Iterator[Difference]:
    if _same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            here = (*path, key)
            yield from _differences(here, old.get(key, ABSENT), new.get(key, ABSENT))
    elif isinstance(old, list) and isinstance(new, list):
        for a, b in _pairs(old, new):
            before = ABSENT if a is None else old[a]
            after = ABSENT if b is None else new[b]
            step = b if b is not None else a
            yield from _differences((*path, step or 0), before, after)
    else:
        yield Difference(path, old, new)


def _rewrite(piece: Piece, old: Json, new: Json, by: int) -> Piece:
    if _same(old, new):
        return piece
    if isinstance(old, dict) and isinstance(new, dict):
        return Piece(
            by,
            {
                key: _rewrite(piece.inside[key], old[key], value, by)
                if key in old
                else _fresh(value, by)
                for key, value in new.items()
            },
        )
    if isinstance(old, list) and isinstance(new, list):
        return Piece(
            by,
            {
                b: _fresh(new[b], by)
                if a is None
                else _rewrite(piece.inside[a], old[a], new[b], by)
                for a, b in _pairs(old, new)
                if b is not None
            },
        )
    return _fresh(new, by)


def _fresh(value: Json, by: int) -> Piece:
    if isinstance(value, dict):
        return Piece(by, {key: _fresh(inside, by) for key, inside in value.items()})
    if isinstance(value, list):
        return Piece(by, {place: _fresh(item, by) for place, item in enumerate(value)})
    return Piece(by)


def _all_by(piece: Piece, by: int) -> bool:
    return piece.by == by and all(_all_by(inside, by) for inside in piece.inside.values())


def _same(old: MaybeJson, new: MaybeJson) -> bool:
    """Compare two values as JSON, in which 1, 1.0 and true differ, also inside containers."""
    if old is ABSENT or new is ABSENT:
        return old is new
    return old == new and _text(old) == _text(new)


def _text(value: MaybeJson) -> str:
    return json.dumps(value, sort_keys=True)


def _pairs(old: list[Json], new: list[Json]) -> Iterator[tuple[int | None, int | None]]:
    """Yield which old item became which new one; None for an added or removed one."""
    before, after = [_text(item) for item in old], [_text(item) for item in new]
    shortest = min(len(before), len(after))
    start = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    rest = shortest - start
    end = next((i for i in range(rest) if before[-1 - i] != after[-1 - i]), rest)
    yield from ((i, i) for i in range(start))
    yield from _middle(before, after, start, end)
    yield from ((len(old) - i, len(new) - i) for i in range(end, 0, -1))


def _middle(
    before: list[str], after: list[str], start: int, end: int
) -> Iterator[tuple[int | None, int | None]]:
    a, b = before[start : len(before) - end], after[start : len(after) - end]
    if len(a) + len(b) <= _ALIGNED:
        blocks = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    else:
        blocks = [("replace", 0, len(a), 0, len(b))]
    for _, a0, a1, b0, b1 in blocks:
        for place in range(max(a1 - a0, b1 - b0)):
            yield (
                start + a0 + place if a0 + place < a1 else None,
                start + b0 + place if b0 + place < b1 else None,
            )
