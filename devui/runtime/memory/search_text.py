"""Converts texts and queries to words that can be compared (adk-runtime 10.2)."""

import re
import unicodedata

from devui.runtime.events.event import Event

_LETTER = re.compile(r"\w")
_NO_LETTER = re.compile(r"\W")
_JOINERS = "\u200c\u200d"
"""Zero-width characters, which say how the letters around them are joined."""


def search_text(event: Event, max_bytes: int) -> str:
    """Return an event's searchable text, without thoughts and in lower case; may be empty."""
    parts = (event.content.parts if event.content else None) or []
    texts = [" ".join(p.text.splitlines()).strip() for p in parts if p.text and not p.thought]
    text = _runs_apart(unicodedata.normalize("NFC", " ".join(filter(None, texts)))).lower()
    return text.encode(errors="replace")[:max_bytes].decode(errors="ignore")


def words(query: str) -> list[str]:
    """Return the words of a query, each once and in order."""
    text = _runs_apart(unicodedata.normalize("NFC", query))
    return list(dict.fromkeys(word.lower() for word in split(text)))


def split(text: str) -> list[str]:
    """Return the words of a text, in order, with the marks on their letters.

    To `re`, the vowels of Hindi, Thai or Bengali aren't letters: it would break words at them.
    """
    if text.isascii():
        return re.findall(r"\w+", text)
    pieces = _NO_LETTER.sub(_mark_or_space, text).split()
    return [piece for piece in pieces if _LETTER.search(piece)]  # an emoji may leave a lone mark


def runs(word: str) -> list[str]:
    """Split a word into Latin and other parts; a mark belongs to the part of its letter."""
    pieces: list[str] = []
    for character in word:
        if pieces and (_is_mark(character) or _is_latin(character) == _is_latin(pieces[-1][0])):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


def has_marks(word: str) -> bool:
    """Return whether letters of the word have marks, at which SQLite's index breaks words."""
    return not word.isascii() and any(map(_is_mark, word))


def is_unspaced(word: str) -> bool:
    """Return whether a word is in a script that may be written without spaces."""
    return not all(_is_latin(character) for character in word)


def _runs_apart(text: str) -> str:
    """Return the text with a space wherever Latin letters and other scripts meet."""
    if text.isascii():
        return text
    return " ".join(
        run for word in text.split() for run in ([word] if word.isascii() else runs(word))
    )


def _mark_or_space(match: re.Match[str]) -> str:
    return match[0] if _is_mark(match[0]) else " "


def _is_mark(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character).startswith("M")


def _is_latin(character: str) -> bool:
    if character.isascii():
        return character.isalnum() or character == "_"
    return unicodedata.name(character, "").startswith("LATIN")
