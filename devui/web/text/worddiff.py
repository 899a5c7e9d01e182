"""Two texts, word by word or line by line, as what stayed, went and came.

The work is bounded by what is compared, never by a clock: the same two texts are shown in the same
way on every machine.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

Change = Literal["same", "removed", "added"]

MATCHES: Final = 200_000
"""Pairs of equal words, or lines, that are looked at; what differs in more is told as a whole."""
_UNITS: Final = (re.compile(r"[^\S\n]*(?:\S+|\n)|[^\S\n]+"), re.compile(r".*\n|.+"))
"""Words, each with the space before it, and ends of lines; then whole lines."""


def word_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """The pieces in their order; what they share is told once."""
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
    """How many of the first items are the same in both."""
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
