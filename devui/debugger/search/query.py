"""Converts filters to queries of the search index, and events to its entries.

The index only narrows the search: a query finds all events that match the filter and have words
beginning like the filter's. The filter itself then decides, as in a timeline.
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
"""How many characters of an event are indexed."""
CHANGING: Final = frozenset({"partial", "streamed", "starred", "noted"})
"""Flags that an event may gain or lose after it was indexed."""
SHORTEST_BEGINNING: Final = 3
"""The shortest prefix to search texts for, in letters: shorter ones match half of all words. Names
have few words, so there even one letter narrows the search."""
_WORD: Final = re.compile(r"[^\W_]+")
"""A word, as the index splits texts."""
NOTED: Final = frozenset({"starred", "noted"})
_COLUMNS: Final = {
    "kind": "kind", "is": "flag", "author": "agent", "agent": "agent", "tool": "tool", "key": "key"
}  # fmt: skip


def search_text(row: EventRow, event: Event) -> SearchText:
    """Return the index entry of an event; if Python can't parse its JSON, only its row's words."""
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
    """Return the word that stands for a session in the index."""
    return f"session{session}"


def index_query(event_filter: Filter, session: int | None = None) -> str:
    """Return the filter as an FTS5 query; "" if the index can't narrow it down."""
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
    """Return one required term; "" if the index can't tell."""
    if not words.field:
        return " OR ".join(map(_text, words.patterns))
    column = _COLUMNS.get(words.field)
    if column is None or (words.field == "is" and not CHANGING.isdisjoint(words.patterns)):
        return ""
    names = [_name(pattern) for pattern in words.patterns]
    return f"{column} : ({' OR '.join(names)})" if all(names) else ""


def _text(text: str) -> str:
    """Return a phrase query; its last word is a prefix unless it is too short."""
    words = _WORD.findall(text)
    if not words:
        return ""
    return _phrase(text, is_prefix=len(words[-1]) >= SHORTEST_BEGINNING)


def _name(pattern: str) -> str:
    """Return a query for a name, or for a prefix before a `*`."""
    start, star, _ = pattern.partition("*")
    return _phrase(start, is_prefix=bool(star)) if _WORD.search(start) else ""


def _phrase(text: str, *, is_prefix: bool = False) -> str:
    whole = text.replace('"', '""').replace("\0", " ")
    return f'"{whole}" *' if is_prefix else f'"{whole}"'


def _lines(texts: Iterable[str | None]) -> str:
    """Join texts, without the lone surrogates that JSON may contain and SQLite rejects."""
    return "\n".join(text for text in texts if text).encode(errors="replace").decode()
