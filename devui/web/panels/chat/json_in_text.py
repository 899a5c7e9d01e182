"""JSON inside of text: all of it, in fences, or among the words."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from devui.debugger.events.preview import preview
from devui.web.panels.chat.content_parts import JsonInText
from devui.web.text.deceptive_characters import visible
from devui.web.text.jsontree import json_tree

_LONGEST: Final = 65_536
"""The longest text, in characters, in which JSON is looked for."""
_SHORTEST: Final = 80
"""The shortest value among words, in characters, that is worth unfolding."""
_TRIES: Final = 40
"""How many beginnings of a value are tried in a text: each may have to be read to its end."""
_MOST: Final = 10
"""How many values of a text are unfolded."""
_PREVIEW: Final = 50
_FENCE: Final = re.compile(r"^ {0,3}```([^`\n]*)\n(.*?)\n? {0,3}```", re.DOTALL | re.MULTILINE)
"""A block of code in a message, with its language."""
_LANGUAGES: Final = frozenset({"", "json"})
_BEGINNING: Final = re.compile(r"\{(?=\s*\")|\[(?=\s*[\"\[{\d-])")
_DECODER: Final = json.JSONDecoder()


def json_in(text: str) -> tuple[JsonInText, ...]:
    """Return the JSON objects and arrays in a text, in their order."""
    if len(text) > _LONGEST:
        return ()
    whole = text.strip()
    fence = _FENCE.fullmatch(whole)
    if value := _value(whole) or (_fenced(fence) if fence else None):
        return (JsonInText("", json_tree(value)),)
    values = islice(_in_prose(text), _MOST)
    return tuple(JsonInText(visible(preview(each, _PREVIEW)), json_tree(each)) for each in values)


def _value(text: str) -> Any:
    """Return the object or array that the text is; None if it isn't one or is empty."""
    text = text.strip()
    if text[:1] + text[-1:] not in {"{}", "[]"}:
        return None
    try:
        return json.loads(text) or None
    except (ValueError, RecursionError):
        return None


def _fenced(fence: re.Match[str]) -> Any:
    return _value(fence[2]) if fence[1].strip().lower() in _LANGUAGES else None


def _in_prose(text: str) -> Iterator[Any]:
    """Yield the values in fences, and the large ones among the words outside of them."""
    end = 0
    for fence in _FENCE.finditer(text):
        yield from _among_words(text[end : fence.start()])
        if value := _fenced(fence):
            yield value
        end = fence.end()
    yield from _among_words(text[end:])


def _among_words(text: str) -> Iterator[Any]:
    place = 0
    for _ in range(_TRIES):
        beginning = _BEGINNING.search(text, place)
        if beginning is None:
            return
        try:
            value, end = _DECODER.raw_decode(text, beginning.start())
        except (ValueError, RecursionError):
            place = beginning.end()
            continue
        if end - beginning.start() >= _SHORTEST:
            yield value
        place = end
