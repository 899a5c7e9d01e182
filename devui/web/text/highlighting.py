"""Highlights code blocks with class names (the page's CSP allows no inline styles).

The language comes from a fixed table: the info string of a fence is untrusted, and Pygments has
several hundred lexers. Their work on hostile text is limited in steps, not by time: a rule may scan
from any token to the end of the text in vain, at a speed that depends on the language.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from markupsafe import escape
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType

from devui.web.text.step_budget import StepBudget, TooMuch

MAX_CHARACTERS: Final = 16_384
"""Longer blocks stay plain."""

CLASSES: Final = {name for name in STANDARD_TYPES.values() if name}
"""All class names that `to_html` may use."""

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
"""Pygments' lexers by the language that a fence names; each is loaded when first needed."""


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
"""Steps per thousand characters after a token, for rules that scan them in vain: the worst of some
fifty hostile texts, measured. All other languages are below `_READING`."""
_READING: Final = 3
_TOKEN: Final = 5


def to_html(code: str, language: str, effort: StepBudget) -> str:
    """Return `code` as HTML: escaped, with `<span class>` around its tokens.

    The code isn't highlighted if the language is unknown, the text is too long, or the work exceeds
    what is left of the `effort`.
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


def _charge(
    tokens: Iterable[_Token], name: str, behind: int, effort: StepBudget
) -> Iterator[_Token]:
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
