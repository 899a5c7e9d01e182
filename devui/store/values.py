"""Validation of values before they are stored, and conversion of rows when they are read.

Some of SQLite's functions cut a text at a NUL, and Python can't encode a lone surrogate, so both
are refused here, before a transaction begins, in a message that names the value.

A row whose JSON is damaged, or was written by another program, doesn't affect the rest of its
session: an event that reports the damage replaces it, and nothing in the row is decoded (R29).
"""

import json
import math
from binascii import crc32
from collections.abc import Sequence
from typing import Any, Final

from devui.store.errors import BadValue, JournalDamaged
from devui.store.rows import EventRow, Json, NewEvent
from devui.store.summaries import UNREADABLE, Damaged
from devui.wire.events import DamagedEvent, Event

_FINAL: Final = 10
"""The index of `final` in a row; SQLite returns it as 0 or 1."""

LONGEST_ID: Final = 2000
LONGEST_FILE: Final = 5000
"""The maximum length of an id and of an artifact's name, in bytes. Those in one URL, encoded, fit
into the head of a request."""

_RELATIVE: Final = frozenset({".", ".."})
"""Path segments that clients remove from a URL before sending it (RFC 3986, 5.2.4)."""

_LARGEST = 2**63 - 1
"""The largest integer SQLite can hold."""
_MOST_TOKENS = 2**40


def legible(data: bytes) -> str:
    """Decode a text of the journal, even a damaged one; for use as SQLite's `text_factory`."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Damaged(data.decode(errors="replace"))


def clean_text(value: str, what: str) -> str:
    """Return the text unchanged; raises BadValue if it contains a NUL or a lone surrogate."""
    if "\0" in value:
        raise BadValue(f"{what} contains a NUL character at {value.index(chr(0))}; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        char = value[error.start]
        raise BadValue(
            f"{what} contains the lone surrogate {char!r} at {error.start}, not a character; "
            "replace it"
        ) from None
    return value


def name_text(value: str, what: str) -> str:
    """Return an id that is part of URLs; raises BadValue if a URL can't contain it."""
    if not value:
        raise BadValue(f"{what} is empty; give it at least one character")
    if value in _RELATIVE:
        raise BadValue(f"{what} is {value!r}, which clients remove from addresses; choose another")
    return short_text(value, what, LONGEST_ID)


def short_text(value: str, what: str, most: int) -> str:
    """Return the text; raises BadValue if it is longer than `most` bytes in UTF-8."""
    if len(clean_text(value, what).encode()) > most:
        raise BadValue(f"{what} is longer than {most:,} bytes; choose a shorter one")
    return value


def optional_text(value: str | None, what: str) -> str | None:
    return None if value is None else clean_text(value, what)


def printable(text: str) -> str:
    """Escape what a text column can't hold, for texts that must not be refused."""
    return text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()


def json_text(value: Json, what: str) -> str:
    """Return compact JSON; raises BadValue for what JSON can't represent (NaN, sets, …).

    Lone surrogates and NULs are refused, too.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadValue(f"{what} cannot be written as JSON: {error}") from None
    return clean_text(text, what)


def parse_json(text: str) -> Json:
    """Parse a stored JSON text; raises JournalDamaged if it isn't valid JSON.

    For a text that isn't valid UTF-8, returns the text itself, marked as damaged.
    """
    if isinstance(text, Damaged):
        return f"[damaged in the journal] {text}"
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JournalDamaged(f"a stored value is no longer valid JSON: {error}") from None
    return value


def responses_in(data: str, call: str) -> list[Any]:
    """Return the values of an event's function responses with this name."""
    return [each.value for each in Event(data).responses if each.name == call]


def finite(value: float, what: str) -> float:
    """Return the number as a float; raises BadValue for NaN and infinities."""
    if not math.isfinite(value):
        raise BadValue(f"{what} is {value!r}; it must be a finite number")
    return float(value)


def believed(tokens: float) -> int:
    """Clamp a token count, so that an implausible one can't overflow the session's total."""
    return int(max(0, min(tokens, _MOST_TOKENS)))


def bounded(value: object) -> object:
    """Clamp integers to SQLite's range, beyond which no key or seq exists."""
    if isinstance(value, int):
        return max(-_LARGEST, min(_LARGEST, value))
    return value


def check_event(event: NewEvent) -> None:
    """Raise BadValue if the event has a text or number that can't be stored."""
    clean_text(event.id, "the event's id")
    clean_text(event.invocation_id, f"the invocation id of event {event.id!r}")
    clean_text(event.author, f"the author of event {event.id!r}")
    optional_text(event.branch, f"the branch of event {event.id!r}")
    optional_text(event.rewinds, f"what event {event.id!r} takes back")
    clean_text(event.kind, f"the kind of event {event.id!r}")
    clean_text(event.summary_json, f"the summary of event {event.id!r}")
    clean_text(event.data, f"the data of event {event.id!r}")
    if event.usage is not None:
        clean_text(event.usage.model, f"the model of event {event.id!r}")
    finite(event.timestamp, f"the timestamp of event {event.id!r}")
    finite(event.paused, f"how long the run was held before event {event.id!r}")


def event_row(row: Sequence[Any]) -> EventRow:
    """Convert a row of the view `event_rows`."""
    values = [*row]
    values[_FINAL] = bool(values[_FINAL])
    return EventRow(*values)


def event_body(row: Sequence[Any]) -> tuple[EventRow, Event]:
    """Convert a row of the view `event_bodies`; a damaged event is replaced (see `unreadable`)."""
    *values, checksum, data = row
    entry = event_row(values)
    return entry, Event(data) if intact(data, checksum) else unreadable(entry)


def intact(data: str, checksum: int | None) -> bool:
    """Return whether an event's text is undamaged: enclosed in braces and matching its checksum.

    The JSON isn't parsed, so that long histories load fast. Events older than checksums have none.
    """
    if data[:1] != "{" or data[-1:] != "}" or isinstance(data, Damaged):
        return False
    return checksum is None or checksum == crc32(data.encode())


def measure(data: str) -> tuple[int, int]:
    """Return the size of an event's text in UTF-8, in bytes, and its checksum."""
    text = data.encode()
    return len(text), crc32(text)


def unreadable(row: EventRow) -> DamagedEvent:
    """Return the error event that replaces an unreadable event."""
    return DamagedEvent.of(
        {
            "id": row.id,
            "author": row.author,
            "invocationId": row.invocation_id,
            "timestamp": row.timestamp,
            "errorCode": UNREADABLE,
            "errorMessage": f"what the journal holds of event #{row.number} is no event any more, "
            "or not the one that was written; `devui doctor` tells what else is wrong",
        }
    )
