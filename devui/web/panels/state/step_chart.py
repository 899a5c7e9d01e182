"""A picture of a key's writes: each value holds until the next, and numbers set the height."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from devui.debugger.history.blame import ABSENT, MaybeJson
from devui.debugger.history.paths import Path
from devui.web.panels.state.parts import StepChart
from devui.web.text.formats import plain, plural

WIDTH: Final = 1000
HEIGHT: Final = 40
_EDGE: Final = 4
"""Space left free above and below the line."""
_TICK: Final = 8


def value_at(value: MaybeJson, path: Path) -> MaybeJson:
    """Return the value at a path in another value, or ABSENT."""
    for step in path:
        match value:
            case dict() if isinstance(step, str):
                value = value.get(step, ABSENT)
            case list() if isinstance(step, int) and step < len(value):
                value = value[step]
            case _:
                return ABSENT
    return value


def step_chart(values: Sequence[MaybeJson], here: int | None) -> StepChart | None:
    """Return the chart of the written values, oldest first; `here` is the place of the one shown.

    None for fewer than two writes, which need no picture. The line is interrupted where a value
    isn't a number; if there are no numbers, there are only ticks.
    """
    if len(values) < 2:
        return None
    ends = [round(WIDTH * place / len(values), 1) for place in range(len(values) + 1)]
    heights = [_number(value) for value in values]
    numbers = [height for height in heights if height is not None]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    label = plural(len(values), "write")
    if numbers:
        label += f", lowest {plain(low)}, highest {plain(high)}"
    return StepChart(
        line=_line(ends, [None if h is None else _y(h, low, high) for h in heights]),
        ticks="".join(f"M{x:g} {HEIGHT}v-{_TICK}" for x in ends[:-1]),
        here=None if here is None else (ends[here], round(ends[here + 1] - ends[here], 1)),
        label=label,
        low=plain(low) if numbers else "",
        high=plain(high) if numbers else "",
    )


def _number(value: MaybeJson) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _y(number: float, low: float, high: float) -> float:
    """Return the distance from the top; the middle if all numbers are equal."""
    share = 0.5 if high == low else (number / 2 - low / 2) / (high / 2 - low / 2)
    return round(HEIGHT - _EDGE - share * (HEIGHT - 2 * _EDGE), 1)


def _line(ends: Sequence[float], heights: Sequence[float | None]) -> str:
    commands: list[str] = []
    before: float | None = None
    for (start, end), y in zip(pairwise(ends), heights, strict=True):
        if y is not None:
            commands.append(
                f"V{y:g}H{end:g}" if before is not None else f"M{start:g} {y:g}H{end:g}"
            )
        before = y
    return "".join(commands)
