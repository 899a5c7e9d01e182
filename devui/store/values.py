"""What may enter the journal, and how it is read back.

SQLite would cut a text at a NUL in some functions and Python cannot encode a lone surrogate at all,
so both are refused here, by name, before a transaction begins.

A row whose JSON is damaged, or was put there by another program, costs its session nothing but
itself: an event that says so stands in its place, and nothing of what is there is decoded (R29).
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
"""Where `final` stands in a row; SQLite hands it back as 0 or 1."""

LONGEST_ID: Final = 2000
LONGEST_FILE: Final = 5000
"""Bytes of an id, and of an artifact's name. Encoded, those of one address fit into the head of a
request."""

_RELATIVE: Final = frozenset({".", ".."})
"""Steps of a path that clients resolve before they send it (RFC 3986, 5.2.4)."""

_LARGEST = 2**63 - 1
"""The largest integer SQLite can hold."""
_MOST_TOKENS = 2**40


def legible(data: bytes) -> str:
    """Decode a text of the journal, whatever has become of it (a `text_factory` of SQLite's)."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Damaged(data.decode(errors="replace"))


def clean_text(value: str, what: str) -> str:
    """Return the text as it is; BadValue when it holds a NUL or a lone surrogate."""
    if "\0" in value:
        raise BadValue(f"{what} holds a NUL character at {value.index(chr(0))}; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        char = value[error.start]
        raise BadValue(
            f"{what} holds the lone surrogate {char!r} at {error.start}, which is no character; "
            "replace it"
        ) from None
    return value


def name_text(value: str, what: str) -> str:
    """Return an id that addresses are made of; BadValue when no address can hold it."""
    if not value:
        raise BadValue(f"{what} is empty; give it at least one character")
    if value in _RELATIVE:
        raise BadValue(f"{what} is {value!r}, which clients remove from addresses; choose another")
    return short_text(value, what, LONGEST_ID)


def short_text(value: str, what: str, most: int) -> str:
    """Return the text; BadValue when it has more than `most` bytes."""
    if len(clean_text(value, what).encode()) > most:
        raise BadValue(f"{what} is longer than {most:,} bytes; choose a shorter one")
    return value


def optional_text(value: str | None, what: str) -> str | None:
    return None if value is None else clean_text(value, what)


def printable(text: str) -> str:
    """Spell out what a text column cannot hold, where nothing may be refused."""
    return text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()


def json_text(value: Json, what: str) -> str:
    """Return compact JSON; BadValue for what JSON has no form for (NaN, sets, lone surrogates)."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadValue(f"{what} cannot be written as JSON: {error}") from None
    return clean_text(text, what)


def parse_json(text: str) -> Json:
    """Read a stored JSON text; JournalDamaged for what `json_text` cannot have written.

    Of one that is no UTF-8 any more the text itself is the value, which says so.
    """
    if isinstance(text, Damaged):
        return f"[damaged in the journal] {text}"
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JournalDamaged(f"a stored value is no JSON any more: {error}") from None
    return value


def responses_in(data: str, call: str) -> list[Any]:
    """What an event's JSON answers to calls of this name."""
    return [each.value for each in Event(data).responses if each.name == call]


def finite(value: float, what: str) -> float:
    """Return the number as a float; BadValue for NaN and the infinities."""
    if not math.isfinite(value):
        raise BadValue(f"{what} is {value!r}; it must be a finite number")
    return float(value)


def believed(tokens: float) -> int:
    """Keep a count no model can have made from overflowing the session's sum."""
    return int(max(0, min(tokens, _MOST_TOKENS)))


def bounded(value: object) -> object:
    """Return integers within SQLite's range: a key or seq beyond it can match or limit nothing."""
    if isinstance(value, int):
        return max(-_LARGEST, min(_LARGEST, value))
    return value


def check_event(event: NewEvent) -> None:
    """Raise BadValue for an event with a text or number that cannot be kept."""
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
    """The row of the view `event_rows`."""
    values = [*row]
    values[_FINAL] = bool(values[_FINAL])
    return EventRow(*values)


def event_body(row: Sequence[Any]) -> tuple[EventRow, Event]:
    """The row of the view `event_bodies`, with its event, or what tells of its damage."""
    *values, checksum, data = row
    entry = event_row(values)
    return entry, Event(data) if intact(data, checksum) else unreadable(entry)


def intact(data: str, checksum: int | None) -> bool:
    """Whether an event's text is what was written, as far as its checksum tells; events of before
    there was one have none. It begins and ends as a JSON object does: nothing more is looked at, so
    that a long history is read fast.
    """
    if data[:1] != "{" or data[-1:] != "}" or isinstance(data, Damaged):
        return False
    return checksum is None or checksum == crc32(data.encode())


def measure(data: str) -> tuple[int, int]:
    """The size of an event's text in bytes of UTF-8, and its checksum."""
    text = data.encode()
    return len(text), crc32(text)


def unreadable(row: EventRow) -> DamagedEvent:
    """What stands in the place of an event that cannot be read."""
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
