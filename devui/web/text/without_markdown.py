"""Markdown as the words it shows, on one line: for rows, tips and titles.

A row has the first characters of a message, whose lines are one line by then. So lists, headings
and tables begin in the middle of it, and what the cut left open never closes.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from markdown_it.token import Token

from devui.web.text.highlighting import Effort, TooMuch
from devui.web.text.markdown import environment, is_parsed, paid_parser

LONGEST: Final = 300
"""Characters that are read; what follows is left out."""
_ALLOWANCE: Final = 20_000
"""Steps for one text."""
_CUT: Final = "…"
_BETWEEN: Final = " · "
_SPECIAL: Final = re.compile(r"[*_`~#\[\]<>|\\&$+-]|\d[.)]")
"""Without any of these, Markdown is words."""

_LISTED: Final = re.compile(r"(?:^|[.:!?…]\**\s)([*+-]) (?=\S)")
"""The first bullet of a list whose lines are one: at the start, or after the end of a sentence."""
_BLOCK: Final = re.compile(r"(?:^|\s)(?=#{2,6} \S|# [A-Z])|\s-{3,}(?=\s)")
"""Where a heading begins, or a line across."""
_BULLET: Final = re.compile(r"\s([*+-]) (?=\S)")
"""A bullet in a text with headings, after which lists begin without a sentence."""
_RULED: Final = re.compile(r"\|(?:\s*:?-{2,}:?\s*\|)+\s*")
"""The rule under a table's head."""
_CELL: Final = re.compile(r"\s*(?:\|\s*)+")
_OPEN: Final = re.compile(r"(?:(?<=^)|(?<=\s))(?:\*{1,3}|__|~~|`{1,3})(?=[^\s*_~`])")
"""What the cut has left without its end."""
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*…$")
"""A link that ends in the middle of its address."""

_PARSER: Final = paid_parser()


def without_markdown(text: str) -> str:
    """The words that the text shows when it is taken for Markdown, on one line.

    A text that shows nothing, or that takes the parser too long, stays as it is.
    """
    return _cached(text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}{_CUT}")


@lru_cache(maxsize=4096)
def _cached(text: str) -> str:
    if "\0" in text or not _SPECIAL.search(text) or not is_parsed(text):
        return text
    try:
        tokens = _PARSER.parse(_in_lines(text), environment(Effort(_ALLOWANCE)))
        words = " ".join("".join(_words(tokens, cut=text.endswith(_CUT))).split())
    except (TooMuch, RecursionError, ValueError, IndexError):
        return text
    return words or text


def _in_lines(text: str) -> str:
    """The text with the lines that its lists, headings and tables had."""
    text, count = _BLOCK.subn("\n\n", _LINK.sub(rf"\1{_CUT}", text))
    if _RULED.search(text):
        text = _CELL.sub(_BETWEEN, _RULED.sub("|", text)).strip(_BETWEEN)
    if (first := (_BULLET if count else _LISTED).search(text)) is None:
        return text
    head, bullet, rest = text[: first.start(1)], first[1], text[first.end() :]
    items = re.split(rf"\s{re.escape(bullet)} (?=\S)", rest)
    return "\n".join([head, *(f"{bullet} {each}" for each in items)])


def _words(tokens: Iterable[Token], *, cut: bool) -> Iterator[str]:
    """The words of the tokens; items of a list have a dot between them, or their numbers."""
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
