"""Texts and queries as words that can be compared (adk-runtime 10.2)."""

import re
import unicodedata
from itertools import groupby

from devui.runtime.events.event import Event


def search_text(event: Event, max_bytes: int) -> str:
    """What an event can be found by: its texts without thoughts, in lower case; maybe empty."""
    parts = (event.content.parts if event.content else None) or []
    texts = [" ".join(p.text.splitlines()).strip() for p in parts if p.text and not p.thought]
    text = _runs_apart(unicodedata.normalize("NFC", " ".join(filter(None, texts)))).lower()
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore")


def words(query: str) -> list[str]:
    """The words of a query, each once and in order."""
    text = _runs_apart(unicodedata.normalize("NFC", query))
    return list(dict.fromkeys(word.lower() for word in re.findall(r"\w+", text)))


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script that may be written without spaces."""
    return not all(_is_latin(character) for character in word)


def _runs_apart(text: str) -> str:
    """The text with a space wherever Latin letters and other scripts meet."""
    if text.isascii():
        return text
    pieces = []
    for word in text.split():
        runs = [word] if word.isascii() else ["".join(run) for _, run in groupby(word, _is_latin)]
        pieces += runs
    return " ".join(pieces)


def _is_latin(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character == "_"
    return unicodedata.name(character, "").startswith("LATIN")
