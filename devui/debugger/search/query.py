"""From a filter to a query of the index, and from an event to what the index has of it.

The index narrows: the query finds whatever a filter lets through and has words that begin as the
filter's do. What it finds is then decided by the filter itself, as in a timeline.
"""

import re
from collections.abc import Iterable
from typing import Final

from devui.debugger.predicates.facts import Facts
from devui.debugger.predicates.filters import FIELDS, Filter, WordTerm
from devui.store.rows import EventRow
from devui.store.search import SearchText
from devui.wire.events import Event

MOST: Final = 100_000
"""Characters of an event that are indexed."""
CHANGING: Final = frozenset({"partial", "streamed", "starred", "noted"})
"""Flags that an event may get or lose after it is indexed."""
SHORTEST_BEGINNING: Final = 3
"""Letters of a word that may go on: shorter ones would be the beginning of half of all words."""
_WORD: Final = re.compile(r"[^\W_]+")
"""A word, as the index reads texts."""
NOTED: Final = frozenset({"starred", "noted"})
_COLUMNS: Final = {
    "kind": "kind", "is": "flag", "author": "agent", "agent": "agent", "tool": "tool", "key": "key"
}  # fmt: skip


def search_text(row: EventRow, event: Event) -> SearchText:
    """What the index has of an event; of one whose JSON Python can't read, its row's words."""
    try:
        return _search_text(row, event)
    except (ValueError, RecursionError):
        words = _lines((row.summary.text,))
        return SearchText(row.seq, place(row.session), words, row.author, "", "", row.kind, "")


def _search_text(row: EventRow, event: Event) -> SearchText:
    facts = Facts.of(row, row.summary).reading(event.text)
    flags = (flag for flag in facts.get("flags") if flag not in CHANGING)
    extra = (*row.summary.artifacts, row.summary.text)
    return SearchText(
        row.seq,
        place(row.session),
        _lines((facts.get("said"), *extra))[:MOST],
        _lines(FIELDS["agent"].names(facts)),
        _lines(facts.get("tools")),
        _lines(facts.get("keys")),
        _lines(FIELDS["kind"].names(facts)),
        _lines(flags),
    )


def place(session: int) -> str:
    """The word by which the index knows a session."""
    return f"session{session}"


def index_query(event_filter: Filter, session: int | None = None) -> str:
    """The filter as a query of FTS5; "" if nothing in it is in the index."""
    terms = [term for each in event_filter.words if (term := _term(each))]
    if session is not None:
        terms.append(f"place : {_phrase(place(session))}")
    return " AND ".join(terms)


def asks_for_notes(event_filter: Filter) -> bool:
    """Whether only events with a star or a note can match."""
    return any(
        each.field == "is" and NOTED.issuperset(each.patterns) for each in event_filter.words
    )


def _term(words: WordTerm) -> str:
    """One term that has to hold; "" if the index can't tell."""
    if not words.field:
        return " OR ".join(map(_text, words.patterns))
    column = _COLUMNS.get(words.field)
    if column is None or (words.field == "is" and not CHANGING.isdisjoint(words.patterns)):
        return ""
    names = [_name(pattern) for pattern in words.patterns]
    return f"{column} : ({' OR '.join(names)})" if all(names) else ""


def _text(text: str) -> str:
    """Words in a row, the last of which may go on if it isn't too short for that."""
    words = _WORD.findall(text)
    if not words:
        return ""
    return _phrase(text, goes_on=len(words[-1]) >= SHORTEST_BEGINNING)


def _name(pattern: str) -> str:
    """A name, or the beginning of one in front of a `*`."""
    start, star, _ = pattern.partition("*")
    words = _WORD.findall(start)
    if not words or (star and len(words[-1]) < SHORTEST_BEGINNING):
        return ""
    return _phrase(start, goes_on=bool(star))


def _phrase(text: str, *, goes_on: bool = False) -> str:
    whole = text.replace('"', '""').replace("\0", " ")
    return f'"{whole}" *' if goes_on else f'"{whole}"'


def _lines(texts: Iterable[str | None]) -> str:
    """As SQLite takes it: JSON may hold half of a surrogate pair."""
    return "\n".join(text for text in texts if text).encode(errors="replace").decode()
