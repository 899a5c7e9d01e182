"""What may enter the journal: texts that SQLite keeps whole, JSON that every reader can read back.

SQLite would cut a text at a NUL in some functions and Python cannot encode a lone surrogate at all,
so both are refused here, by name, before a transaction begins.
"""

import json
import math

from devui.store.errors import BadValue, JournalDamaged
from devui.store.rows import Json

_LARGEST = 2**63 - 1
"""The largest integer SQLite can hold."""


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


def finite(value: float, what: str) -> float:
    """Return the number as a float; BadValue for NaN and the infinities."""
    if not math.isfinite(value):
        raise BadValue(f"{what} is {value!r}; it must be a finite number")
    return float(value)


def bounded(value: object) -> object:
    """Return integers within SQLite's range: a key or seq beyond it can match or limit nothing."""
    if isinstance(value, int):
        return max(-_LARGEST, min(_LARGEST, value))
    return value
