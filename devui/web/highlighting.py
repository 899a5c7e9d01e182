"""Colours for blocks of code, as class names (the policy of the page takes no inline style).

The language comes from a fixed table: the name beside a fence is untrusted text, and Pygments'
look-up would load any of several hundred lexers, some of them slow on hostile input.
"""

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from markupsafe import escape
from pygments.lexer import Lexer
from pygments.lexers.c_cpp import CLexer, CppLexer
from pygments.lexers.configs import TOMLLexer
from pygments.lexers.css import CssLexer
from pygments.lexers.data import JsonLexer, YamlLexer
from pygments.lexers.diff import DiffLexer
from pygments.lexers.go import GoLexer
from pygments.lexers.html import HtmlLexer
from pygments.lexers.javascript import JavascriptLexer, TypeScriptLexer
from pygments.lexers.jvm import JavaLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.rust import RustLexer
from pygments.lexers.shell import BashLexer
from pygments.lexers.sql import SqlLexer
from pygments.token import STANDARD_TYPES, _TokenType

MAX_CHARACTERS: Final = 16_384
"""Longer blocks stay plain."""

BUDGET: Final = 0.1
"""Seconds of processor time for one block."""

CLASSES: Final = {name for name in STANDARD_TYPES.values() if name}
"""Every class name that can come out of `to_html`."""

_LEXERS: Final[dict[str, type[Lexer]]] = {
    "bash": BashLexer,
    "c": CLexer,
    "cpp": CppLexer,
    "css": CssLexer,
    "diff": DiffLexer,
    "go": GoLexer,
    "html": HtmlLexer,
    "java": JavaLexer,
    "javascript": JavascriptLexer,
    "js": JavascriptLexer,
    "json": JsonLexer,
    "py": PythonLexer,
    "python": PythonLexer,
    "rust": RustLexer,
    "sh": BashLexer,
    "shell": BashLexer,
    "sql": SqlLexer,
    "toml": TOMLLexer,
    "ts": TypeScriptLexer,
    "typescript": TypeScriptLexer,
    "yaml": YamlLexer,
    "yml": YamlLexer,
}


_Token = tuple[_TokenType, str]


class _TooSlow(Exception):
    """The budget for this block is spent."""


def to_html(code: str, language: str) -> str:
    """Return `code` as HTML: escaped, with `<span class>` around its tokens.

    It stays without colours if the language is unknown or the text too long or too slow.
    """
    lexer = _LEXERS.get(language.lower())
    if lexer is None or len(code) > MAX_CHARACTERS:
        return str(escape(code))
    tokens = lexer(stripnl=False, ensurenl=False).get_tokens(code)
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
