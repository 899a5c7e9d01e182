"""What may enter the journal, and how it is read back.

SQLite would cut a text at a NUL in some functions and Python cannot encode a lone surrogate at all,
so both are refused here, by name, before a transaction begins.

A row whose JSON is damaged, or was put there by another program, costs its session nothing but
itself: an event that says so stands in its place, and nothing of what is there is decoded (R29).
"""

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from devui.store.errors import BadValue, JournalDamaged
from devui.store.rows import EventRow, Json, NewEvent

UNREADABLE: Final = "UNREADABLE_EVENT"
"""The `errorCode` of what stands in the place of an event that cannot be read."""

_FINAL: Final = 10
"""Where `final` stands in a row; SQLite hands it back as 0 or 1."""

_LARGEST = 2**63 - 1
"""The largest integer SQLite can hold."""
_MOST_TOKENS = 2**40


def clean_text(value: str, what: str) -> str:
    """Return the text as it is; BadValue when it holds a NUL or a lone surrogate."""
    if "\0" in value:
        raise BadValue(f"{what} holds a NUL character at {value.index(chr(0))}; remove it")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = value[error.start]
        raise BadValue(
            f"{what} holds the lone surrogate {found!r} at {error.start}, which is no character; "
            "replace it"
        ) from None
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


def parsed(text: str) -> Json:
    """Read a stored JSON text; JournalDamaged for what `json_text` cannot have written."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise JournalDamaged(f"a stored value is no JSON any more: {error}") from None
    return value


def responses_in(data: str, call: str) -> list[Any]:
    """What an event's JSON answers to calls of this name."""
    content = json.loads(data).get("content") or {}
    responses = (part.get("functionResponse") or {} for part in content.get("parts") or ())
    return [each.get("response") for each in responses if each.get("name") == call]


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
    clean_text(event.summary, f"the summary of event {event.id!r}")
    clean_text(event.data, f"the data of event {event.id!r}")
    if event.usage is not None:
        clean_text(event.usage.model, f"the model of event {event.id!r}")
    finite(event.timestamp, f"the timestamp of event {event.id!r}")
    finite(event.held, f"how long the run was held before event {event.id!r}")


def event_row(row: Sequence[Any]) -> EventRow:
    """The row of the view `event_rows`."""
    values = [*row]
    values[_FINAL] = bool(values[_FINAL])
    return EventRow(*values)


def event_body(row: Sequence[Any]) -> tuple[EventRow, str]:
    """The row of the view `event_bodies`, with the event's JSON."""
    known, data = event_row(row[:-1]), row[-1]
    return known, data if is_object(data) else _unreadable(known)


def is_object(data: str) -> bool:
    """Whether a text begins and ends as a JSON object does: a long history is read fast."""
    return data[:1] == "{" and data[-1:] == "}"


def _unreadable(row: EventRow) -> str:
    return json.dumps(
        {
            "id": row.id,
            "author": row.author,
            "invocationId": row.invocation_id,
            "timestamp": row.timestamp,
            "errorCode": UNREADABLE,
            "errorMessage": f"what the journal holds of event #{row.number} is no event any more; "
            "`devui doctor` tells what else is wrong",
        }
    )
