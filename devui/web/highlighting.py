"""Colours for blocks of code, as class names (the policy of the page takes no inline style).

The language comes from a fixed table: the name beside a fence is untrusted text, and Pygments knows
several hundred lexers, some of them slow on hostile input.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from markupsafe import escape
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType

MAX_CHARACTERS: Final = 16_384
"""Longer blocks stay plain."""

BUDGET: Final = 0.1
"""Seconds of processor time for one block."""

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


class _TooSlow(Exception):
    """The budget for this block is spent."""


def to_html(code: str, language: str) -> str:
    """Return `code` as HTML: escaped, with `<span class>` around its tokens.

    It stays without colours if the language is unknown or the text too long or too slow.
    """
    name = _LEXERS.get(language.lower())
    if name is None or len(code) > MAX_CHARACTERS:
        return str(escape(code))
    tokens = get_lexer_by_name(name, stripnl=False, ensurenl=False).get_tokens(code)
    try:
        runs = groupby(_in_time(tokens), key=_class_of)
        return "".join(_span(name, "".join(text for _, text in run)) for name, run in runs)
    except _TooSlow:
        return str(escape(code))


def _in_time(tokens: Iterable[_Token]) -> Iterator[_Token]:
    deadline = time.thread_time() + BUDGET
    for token in tokens:
        if time.thread_time() > deadline:
            raise _TooSlow
        yield token


def _class_of(item: _Token) -> str:
    kind = item[0]
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return STANDARD_TYPES.get(kind, "")


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{escape(text)}</span>' if name else str(escape(text))
