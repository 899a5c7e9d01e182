"""A streamed answer as it came: when each piece arrived, and what was there by then."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, Final

from devui.web.parts import every as parts
from devui.web.parts.request import StreamedPiece
from devui.web.presenters.content import mapping, raw_parts
from devui.web.presenters.streamedcalls import StreamedCalls
from devui.web.text import formats
from devui.web.text.figures import plural
from devui.web.text.visible import visible

MOST: Final = 2_000
"""Pieces that can be stepped through."""
_STALL: Final = 1.0
"""Seconds without a piece from which on a gap may be a stall."""
_LONGER: Final = 5
"""How many times as long as the usual gap a stall is."""
_WIDE: Final = 1000.0

_Piece = tuple[float, str, str]


def streamed_answer(answers: Sequence[Any]) -> parts.Streamed | None:
    """The pieces of an answer, from `[seconds, response]` each; None if it came at once."""
    told = [(float(at), mapping(response)) for at, response in answers]
    partial = [(at, each) for at, each in told if each.get("partial") is True]
    pieces = list(_pieces(partial[:MOST]))
    if not pieces:
        return None
    final = next((_text(each) for _, each in reversed(told) if not each.get("partial")), None)
    joined = "".join(_text(each) for _, each in partial)
    times = [at for at, _, _ in pieces]
    span = max(times[-1], 1e-6)
    stalls = _stalls(times)
    return parts.Streamed(
        pieces=tuple(
            StreamedPiece(visible(text), said, round(_WIDE * at / span, 1))
            for (at, text, _), said in zip(pieces, _told(pieces), strict=True)
        ),
        ticks="".join(f"M{_WIDE * at / span:.1f} 3v14" for at in times),
        stalls=tuple(
            (round(_WIDE * a / span, 1), round(_WIDE * (b - a) / span, 1)) for a, b in stalls
        ),
        said=_said(times, stalls),
        differs=final is not None and final != joined,
    )


def _text(response: Mapping[str, Any]) -> str:
    return "".join(str(part["text"]) for part in raw_parts(response) if part.get("text"))


def _pieces(partial: Sequence[tuple[float, Mapping[str, Any]]]) -> Iterator[_Piece]:
    """When each came, what it adds, and the call whose arguments are whole with it."""
    calls = StreamedCalls()
    for at, response in partial:
        text, whole = "", ""
        for part in raw_parts(response):
            text += str(part.get("text") or "") or calls.write(part)
            whole = calls.complete or whole
        yield at, text, whole


def _stalls(times: Sequence[float]) -> list[tuple[float, float]]:
    gaps = [b - a for a, b in pairwise(times)]
    usual = median(gaps) if gaps else 0.0
    return [(a, b) for a, b in pairwise(times) if b - a >= max(_STALL, _LONGER * usual)]


def _told(pieces: Sequence[_Piece]) -> Iterator[str]:
    """When each came, how long after the one before, and how long it is."""
    before: float | None = None
    for at, text, whole in pieces:
        gap = "" if before is None else f", {formats.duration(at - before)} after the one before"
        ends = f"; the arguments of {whole} are complete" if whole else ""
        yield f"{formats.duration(at)}{gap}, {plural(len(text), 'character')}{ends}"
        before = at


def _said(times: Sequence[float], stalls: Sequence[tuple[float, float]]) -> str:
    longest = max((b - a for a, b in pairwise(times)), default=0.0)
    told = f"{plural(len(times), 'piece')}, the first after {formats.duration(times[0])}"
    told += f", the longest gap {formats.duration(longest)}"
    return told + (f", {plural(len(stalls), 'stall')}" if stalls else "")
