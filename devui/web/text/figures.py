"""Figures of the timeline: one unit per column, a dash for unknown, never a made-up zero."""

from decimal import Decimal
from typing import Final

UNKNOWN: Final = "\u2013"

_KILO: Final = 1000
_TWO_DECIMALS: Final = 9.995
_ONE_DECIMAL: Final = 99.95
_LEAST: Final = 0.0001
_CENTS: Final = 0.1
_WORTH: Final = 0.005
_FINEST, _HIGHEST = 1e-9, 1e21


def seconds(span: float | None) -> str:
    """Seconds for the column of that unit: `0.81`, `12.4`, `340`."""
    if span is None:
        return UNKNOWN
    span = max(span, 0.0)
    if span < _TWO_DECIMALS:
        return f"{span:.2f}"
    return f"{span:.1f}" if span < _ONE_DECIMAL else f"{span:.0f}"


def held_for(span: float) -> str:
    """What is said of time in which the debugger held a run; "" for what is not worth a word."""
    return "" if span < _WORTH else f"held by the debugger for {seconds(span)} s besides"


def plain(number: float) -> str:
    """A number in figures, without powers of ten where that can be read: `0.3`, `10,000,000`."""
    if number and not _FINEST <= abs(number) < _HIGHEST:
        return f"{number:g}"
    return f"{Decimal(f'{number:.15g}'):,f}"


def compact(number: int | None) -> str:
    """A count in four characters: `655`, `1.4k`, `23k`, `1.2M`."""
    if number is None:
        return UNKNOWN
    if number < _KILO:
        return str(number)
    value, unit = (number / _KILO, "k") if number < _KILO**2 else (number / _KILO**2, "M")
    return f"{value:.1f}{unit}" if value < _TWO_DECIMALS else f"{value:.0f}{unit}"


def dollars(cost: float | None) -> str:
    """Dollars for the column of that unit: `0.0031`, `0.42`, `12.40`, `<0.0001`."""
    if cost is None:
        return UNKNOWN
    if 0 < cost < _LEAST:
        return f"<{_LEAST:.4f}"
    if cost < _CENTS:
        return f"{cost:.4f}" if cost else "0"
    return f"{cost:,.2f}"


def money(cost: float | None, *, more: bool = False) -> str:
    """The same with its unit: `$0.42`; `$0.42+` when some of it is not known."""
    if cost is None:
        return UNKNOWN
    told = dollars(cost)
    return f"<${told[1:]}" if told.startswith("<") else f"${told}{'+' if more else ''}"


def plural(number: int, noun: str) -> str:
    """`1 event`, `12 events`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
