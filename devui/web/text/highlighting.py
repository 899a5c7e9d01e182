"""Colours for blocks of code, as class names (the policy of the page takes no inline style).

The language comes from a fixed table: the name beside a fence is untrusted text, and Pygments knows
several hundred lexers. What one of them does with hostile text is bounded by steps, not by time: a
rule may read from any token to the end of the text in vain, which each language's rules do at a
speed of their own.

A step is roughly what a microsecond does on an idle machine of 2024, so the figures can be read as
times; but nothing here looks at a clock. The same text costs the same on every machine at every
load, and so every reader sees it shown in the same way.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from markupsafe import escape
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType


class TooMuch(Exception):
    """The text would cost more than it may."""


class Effort:
    """What is left of a text's allowance."""

    __slots__ = ("remaining",)

    def __init__(self, steps: int) -> None:
        self.remaining = steps

    def spend(self, steps: int) -> None:
        """Pay for work, before or right after it is done; raises TooMuch when nothing is left."""
        self.remaining -= steps
        if self.remaining < 0:
            raise TooMuch


MAX_CHARACTERS: Final = 16_384
"""Longer blocks stay plain."""

CLASSES: Final = {name for name in STANDARD_TYPES.values() if name}
"""Every class name that can come out of `to_html`."""

_LEXERS: Final[dict[str, str]] = {
    **{name: name for name in ("bash", "c", "cpp", "css", "diff", "go", "html", "java", "json")},
    **{name: name for name in ("javascript", "python", "rust", "sql", "toml", "typescript")},
    "js": "javascript",
    "py": "python",
    "sh": "bash",
    "shell": "bash",
    "ts": "typescript",
    "yaml": "yaml",
    "yml": "yaml",
}
"""What stands beside a fence, and Pygments' name; a lexer is loaded when it is first needed."""


_Token = tuple[_TokenType, str]


READING: Final[dict[str, int]] = {
    "java": 100,
    "c": 75,
    "cpp": 75,
    "typescript": 40,
    "diff": 25,
    "yaml": 20,
    "rust": 15,
    "html": 12,
    "javascript": 10,
    "python": 5,
}
"""Steps for a thousand characters behind a token that a rule reads in vain: measured, the worst of
some fifty hostile texts. The rest of the languages are below `_READING`."""
_READING: Final = 3
_TOKEN: Final = 5


def to_html(code: str, language: str, effort: Effort) -> str:
    """Return `code` as HTML: escaped, with `<span class>` around its tokens.

    It stays without colours if the language is unknown or the text too long, or if colouring it
    costs more than is left of the `effort`.
    """
    name = _LEXERS.get(language.lower())
    if name is None or len(code) > MAX_CHARACTERS:
        return str(escape(code))
    tokens = get_lexer_by_name(name, stripnl=False, ensurenl=False).get_tokens(code)
    try:
        runs = groupby(_charge(tokens, name, len(code), effort), key=_class_of)
        return "".join(_span(kind, "".join(text for _, text in run)) for kind, run in runs)
    except TooMuch:
        return str(escape(code))


def _charge(tokens: Iterable[_Token], name: str, behind: int, effort: Effort) -> Iterator[_Token]:
    reading = READING.get(name, _READING)
    for kind, text in tokens:
        effort.spend(_TOKEN + behind * reading // 1_000)
        behind -= len(text)
        yield kind, text


def _class_of(item: _Token) -> str:
    kind = item[0]
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return STANDARD_TYPES.get(kind, "")


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name else str(escape(text))
