"""Reduces Markdown to the words it shows, on one line: for rows, tooltips and titles.

A row has the start of a message, with its lines joined. So lists, headings and tables may start in
the middle of the line, and markup that was cut off is never closed.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from markdown_it.token import Token

from devui.web.text.markdown_parser import environment, is_prose, paid_parser
from devui.web.text.step_budget import StepBudget, TooMuch

LONGEST: Final = 300
"""How many characters are read; the rest is left out."""
_ALLOWANCE: Final = 20_000
"""Steps per text."""
_CUT: Final = "…"
_BETWEEN: Final = " · "
_SPECIAL: Final = re.compile(r"[*_`~#\[\]<>|\\&$+-]|\d[.)]")
"""Text without any of these contains no Markdown."""

_LISTED: Final = re.compile(r"(?:^|[.:!?…]\**\s)([*+-]) (?=\S)")
"""The first bullet of a list in joined lines: at the start, or after the end of a sentence."""
_BLOCK: Final = re.compile(r"(?:^|\s)(?=#{2,6} \S|# [A-Z])|\s-{3,}(?=\s)")
"""The start of a heading, or a thematic break."""
_BULLET: Final = re.compile(r"\s([*+-]) (?=\S)")
"""A bullet in a text with headings, where a list needn't follow the end of a sentence."""
_RULED: Final = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+\s*")
"""The delimiter row under a table's header."""
_CELL: Final = re.compile(r"\s*(?:\|\s*)+")
_OPEN: Final = re.compile(r"(?:(?<=^)|(?<=\s))(?:\*{1,3}|__|~~|`{1,3})(?=[^\s*_~`])")
"""Opening markup whose end may have been cut off."""
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*…$")
"""A link that was cut off in its address."""

_PARSER: Final = paid_parser()


def without_markdown(text: str) -> str:
    """Return the words that the text shows when rendered as Markdown, on one line.

    A text that shows nothing, or takes the parser too much work, is returned unchanged.
    """
    return _cached(text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}{_CUT}")


@lru_cache(maxsize=4096)
def _cached(text: str) -> str:
    if "\0" in text or not _SPECIAL.search(text) or is_prose(text):
        return text
    try:
        tokens = _PARSER.parse(_in_lines(text), environment(StepBudget(_ALLOWANCE)))
        words = " ".join("".join(_words(tokens, cut=text.endswith(_CUT))).split())
    except (TooMuch, RecursionError, ValueError, IndexError):
        return text
    return words or text


def _in_lines(text: str) -> str:
    """Restore the line breaks around lists and headings, and separate table cells with dots."""
    text, count = _BLOCK.subn("\n\n", _LINK.sub(rf"\1{_CUT}", text))
    if _RULED.search(text):
        text = _CELL.sub(_BETWEEN, _RULED.sub("|", text)).strip(_BETWEEN)
    if (first := (_BULLET if count else _LISTED).search(text)) is None:
        return text
    head, bullet, rest = text[: first.start(1)], first[1], text[first.end() :]
    items = re.split(rf"\s{re.escape(bullet)} (?=\S)", rest)
    return "\n".join([head, *(f"{bullet} {each}" for each in items)])


def _words(tokens: Iterable[Token], *, cut: bool) -> Iterator[str]:
    """Yield the words of the tokens; list items are separated by dots, or have their numbers."""
    first = True
    for token in tokens:
        match token.type:
            case "inline" | "image":
                yield from _words(token.children or (), cut=cut)
            case "text":
                yield _OPEN.sub("", token.content) if cut else token.content
            case "fence":
                yield f" {token.content or token.info} "
            case "list_item_open":
                yield f" {token.info}{token.markup} " if token.info else "" if first else _BETWEEN
                first = False
            case "bullet_list_open" | "ordered_list_open":
                first = True
            case _:
                yield token.content or ("" if token.nesting and not token.block else " ")
