"""Diffs two texts word by word or line by line.

The work is limited by the number of comparisons, never by a clock, so that the same two texts are
shown in the same way on every machine.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

Change = Literal["same", "removed", "added"]

MATCHES: Final = 200_000
"""The maximum number of pairs of equal words or lines; beyond it, the diff is coarser."""
_UNITS: Final = (re.compile(r"[^\S\n]*(?:\S+|\n)|[^\S\n]+"), re.compile(r".*\n|.+"))
"""The units to compare: words, each with its leading space, and line ends; then whole lines."""


def word_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """Return the pieces of both texts in order; pieces that they share appear once."""
    for unit in _UNITS:
        old, new = unit.findall(before), unit.findall(after)
        head = _shared_length(old, new)
        tail = _shared_length(old[head:][::-1], new[head:][::-1])
        was, now = old[head : len(old) - tail], new[head : len(new) - tail]
        if _matches(was, now) <= MATCHES:
            inner = _compare(was, now)
            end = "".join(old[len(old) - tail :])
            return _join([("same", "".join(old[:head])), *inner, ("same", end)])
    return _join([("removed", before), ("added", after)])


def _shared_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))


def _matches(old: Sequence[str], new: Sequence[str]) -> int:
    counts = Counter(new)
    return sum(number * counts[unit] for unit, number in Counter(old).items())


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Change, str]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[i:j])
        else:
            yield "removed", "".join(old[i:j])
            yield "added", "".join(new[k:m])


def _join(pieces: Sequence[tuple[Change, str]]) -> list[tuple[Change, str]]:
    return [piece for piece in pieces if piece[1]]
