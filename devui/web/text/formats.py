"""Formats values as text: times, numbers, money, sizes, links and long texts.

Times are Unix seconds, as in the events. They are shown in the time zone of this machine, which is
also the reader's, and always with a machine-readable `datetime` (see `iso`).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from urllib.parse import urlsplit

from devui.web.basic_parts import Moment

LONGEST_TEXT: Final = 200_000
"""The maximum length of a text, in characters; the raw view has its own limit."""


def clipped(text: str) -> str:
    """Truncate a long text, and append how many characters are missing."""
    if len(text) <= LONGEST_TEXT:
        return text
    # The ellipsis is right after the cut, so that a truncated secret there is recognized (R64).
    return f"{text[:LONGEST_TEXT]}…\n… {len(text) - LONGEST_TEXT:,} more characters"


def web_address(address: str) -> str:
    """Return the address if it is an http or https URL, else ""."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return address if parts.scheme in {"http", "https"} and parts.netloc else ""


UNKNOWN: Final = "\u2013"

_TWO_DECIMALS: Final = 9.995
_ONE_DECIMAL: Final = 99.95
_LEAST: Final = 0.0001
_CENTS: Final = 0.1
_WORTH: Final = 0.005
_FINEST, _HIGHEST = 1e-9, 1e21


def seconds(span: float | None) -> str:
    """Format seconds without their unit, for a column that names it: `0.81`, `12.4`, `340`."""
    if span is None:
        return UNKNOWN
    span = max(span, 0.0)
    if span < _TWO_DECIMALS:
        return f"{span:.2f}"
    return f"{span:.1f}" if span < _ONE_DECIMAL else f"{span:.0f}"


def elapsed(span: float | None) -> str:
    """Format seconds with their unit, for the duration of runs: `12.4 s`."""
    return UNKNOWN if span is None else f"{seconds(span)} s"


def held_for(span: float) -> str:
    """Describe how long the debugger held a run; "" if the time is negligible."""
    if span < _WORTH:
        return ""
    return f"not counting {elapsed(span) if span < _ALMOST_A_MINUTE else duration(span)} paused"


def plain(number: float) -> str:
    """Format a number, avoiding powers of ten where readable: `0.3`, `10,000,000`."""
    if number and not _FINEST <= abs(number) < _HIGHEST:
        return f"{number:g}"
    return f"{Decimal(f'{number:.15g}'):,f}"


def compact(number: int | None) -> str:
    """Format a count in four characters: `655`, `1.4k`, `23k`, `1.2M`."""
    if number is None:
        return UNKNOWN
    if number < _KILO:
        return str(number)
    value, unit = (number / _KILO, "k") if number < _KILO**2 else (number / _KILO**2, "M")
    return f"{value:.1f}{unit}" if value < _TWO_DECIMALS else f"{value:.0f}{unit}"


def dollars(cost: float | None) -> str:
    """Format dollars without the sign, for a column that has it: `0.0031`, `12.40`, `<0.0001`."""
    if cost is None:
        return UNKNOWN
    if 0 < cost < _LEAST:
        return f"<{_LEAST:.4f}"
    if cost < _CENTS:
        return f"{cost:.4f}" if cost else "0"
    return f"{cost:,.2f}"


def money(cost: float | None, *, more: bool = False) -> str:
    """Format dollars with the sign: `$0.42`; `$0.42+` if some costs are unknown (`more`)."""
    if cost is None:
        return UNKNOWN
    text = dollars(cost)
    return f"<${text[1:]}" if text.startswith("<") else f"${text}{'+' if more else ''}"


def joined(*texts: str) -> str:
    """Join the non-empty texts on one line."""
    return " · ".join(filter(None, texts))


def plural(number: int, noun: str) -> str:
    """Return `1 event` or `12 events`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def event_numbers(first: int, last: int) -> str:
    """Return `#12` or `#12 to #20`."""
    return f"#{first}" if first == last else f"#{first} to #{last}"


_KILO: Final = 1000
_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
_ALMOST_A_SECOND: Final = 0.9995
_ALMOST_A_MINUTE: Final = 59.95
_SHORT: Final = 9.95


def iso(timestamp: float) -> str:
    """Return the time in UTC for `<time datetime>`: `2026-11-21T09:05:07.250Z`."""
    moment = datetime.fromtimestamp(timestamp, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(timestamp: float) -> str:
    """Return the local time of day with milliseconds: `09:05:07.250`."""
    return datetime.fromtimestamp(timestamp).astimezone().time().isoformat("milliseconds")


def day(timestamp: float) -> str:
    """Return the local date and minute: `2026-11-21 09:05`."""
    return datetime.fromtimestamp(timestamp).astimezone().strftime("%Y-%m-%d %H:%M")


def duration(seconds: float) -> str:
    """Return a span of time: `12 ms`, `3.4 s`, `1 min 05 s`, `2 h 03 min`."""
    if seconds < _ALMOST_A_SECOND:
        return f"{max(seconds, 0) * _KILO:.0f} ms"
    if seconds < _ALMOST_A_MINUTE:
        return f"{seconds:.1f} s"
    if round(seconds) < _HOUR:
        minutes, rest = divmod(round(seconds), int(_MINUTE))
        return f"{minutes} min {rest:02} s"
    hours, rest = divmod(round(seconds / _MINUTE), int(_MINUTE))
    return f"{hours} h {rest:02} min"


def group_digits(number: int) -> str:
    """Return a whole number in groups of three: `12 345` (with thin no-break spaces)."""
    return f"{number:,}".replace(",", "\u202f")


def size(number: int) -> str:
    """Return a number of bytes: `512 B`, `1.2 kB`, `35 MB`."""
    if number < _KILO:
        return f"{number} B"
    value, unit = float(number), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if round(value) < _KILO:
            break
        value, unit = value / _KILO, larger
    return f"{value:.1f} {unit}" if value < _SHORT else f"{value:.0f} {unit}"


FILTERS: Final[Mapping[str, Callable[..., str]]] = {
    "clock": clock,
    "day": day,
    "duration": duration,
    "group_digits": group_digits,
    "iso": iso,
    "size": size,
}
"""The template filters, by name."""


def moment(timestamp: float) -> Moment:
    """Return a time, given in seconds since the epoch, for display and in ISO format."""
    return Moment(iso=iso(timestamp), clock=clock(timestamp), full=day(timestamp))
