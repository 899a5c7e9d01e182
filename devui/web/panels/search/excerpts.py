"""The part of an event that matches a search."""

import json
import re
from collections.abc import Sequence
from typing import Final

from devui.debugger.predicates.facts import texts
from devui.debugger.predicates.filters import Filter
from devui.debugger.search.hits import Hit
from devui.debugger.secrets.redaction import Redactor
from devui.web.panels.search.parts import Pieces
from devui.web.panels.timeline.rows import row_text
from devui.web.text.deceptive_characters import visible

_AROUND: Final = 10_000
"""Characters on each side in which secrets are searched, so that none is cut in two."""
_SHORT: Final = 24
"""Characters of a text too short to be clear without the event's own line."""
_BEFORE: Final = 60
_AFTER: Final = 160


def excerpt(hit: Hit, phrases: Sequence[str], redactor: Redactor) -> Pieces:
    """Return the first place with one of the phrases, with secrets redacted; the event's own line
    if redaction leaves none."""
    pattern = re.compile("|".join(map(re.escape, phrases)) or r"(?!)", re.IGNORECASE)
    line = redactor.text(row_text(hit.row.summary))
    for text in _texts(hit) if phrases else ():
        match = pattern.search(text)
        if match is None:
            continue
        start, end = max(match.start() - _AROUND, 0), match.end() + _AROUND
        clean = " ".join(redactor.text(text[start:end]).split())
        place = pattern.search(clean)
        if place is None:
            continue
        if len(clean) > _SHORT:
            return _pieces(_cut(clean, place), pattern)
        place = pattern.search(line)
        return _pieces(_cut(line, place) if place else f"{line} … {clean}", pattern)
    return _pieces(line, pattern)


def phrases_of(event_filter: Filter) -> list[str]:
    """Return the texts that a filter looks for in events."""
    return [text for each in event_filter.words if not each.field for text in each.patterns if text]


def _texts(hit: Hit) -> list[str]:
    try:
        return [*texts(json.loads(hit.event.text, parse_constant=str))]
    except (ValueError, RecursionError):  # the row was enough to match
        return []


def plain(pieces: Pieces) -> str:
    """Return the text of the pieces."""
    return "".join(text for text, _ in pieces)


def _cut(text: str, place: re.Match[str]) -> str:
    start, end = max(place.start() - _BEFORE, 0), place.end() + _AFTER
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _pieces(text: str, pattern: re.Pattern[str]) -> Pieces:
    pieces, end = [], 0
    for match in pattern.finditer(text):
        pieces += [(text[end : match.start()], False), (match[0], True)]
        end = match.end()
    return tuple(
        (visible(each), is_match) for each, is_match in (*pieces, (text[end:], False)) if each
    )
