"""Prints figures: one per line for people, all of them as JSON in the last line."""

import json
import statistics
from collections.abc import Iterable, Mapping

Figures = dict[str, float]
"""Values by name with unit (`startup.ready_ms`)."""


def show(value: float) -> str:
    """Format a figure with three significant digits, or from 100 on as an integer."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def report(figures: Mapping[str, float]) -> None:
    """Print figures; programs read the last line."""
    width = max(map(len, figures), default=0)
    for name, value in figures.items():
        print(f"{name:<{width}}  {show(value):>10}")
    print(json.dumps({name: round(value, 4) for name, value in figures.items()}), flush=True)


def median_ms(seconds: Iterable[float]) -> float:
    """Return the median of durations in seconds, in milliseconds."""
    return 1000 * statistics.median(seconds)
