"""How numbers and times are written for people.

Times are Unix seconds, as in the events; they are shown in the zone of this machine, which is the
reader's own, and always beside a machine-readable `datetime` (see `iso`).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from devui.web.parts.basics import Moment

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


def grouped(number: int) -> str:
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
    "grouped": grouped,
    "iso": iso,
    "size": size,
}
"""The template filters, by name."""


def moment(timestamp: float) -> Moment:
    """The time for people and for machines; seconds since the epoch."""
    return Moment(iso=iso(timestamp), clock=clock(timestamp), full=day(timestamp))
