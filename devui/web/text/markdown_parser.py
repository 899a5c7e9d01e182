"""The Markdown parser, with an allowance of work for each text.

It is markdown-it's, which is pure Python and quadratic in bad cases. The work that it may repeat
without end is charged here: each trial of a rule, each token that it creates or skips, and the
characters that a rule reads ahead in vain. All other work is proportional to these.
"""

import re
from collections.abc import Callable
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType

from devui.web.text.step_budget import StepBudget

_PROSE: Final = re.compile(
    r"(?:(?:\n+|\A)(?!\d{1,9}[.)])[^\W_]"
    r"(?:[^\W_]|[ ,.;:?!'\"()/%…\u2013\u2014\u2018-\u201d-])*+(?<! ))++\n*"
)
"""Lines of letters and punctuation that have no meaning in Markdown in any position."""

_ANY: Final = ["paragraph", "reference", "blockquote", "list"]
"""The blocks that another may interrupt; those trials are charged, too."""
_TRIAL: Final = 3
_BLOCK_TRIAL: Final = 6
_TOKEN: Final = 5
_SKIPPED: Final = 1
_READ: Final = 5
"""Characters per step that are read one by one."""
_COPIED: Final = 250
"""Characters per step that are searched or copied as a whole."""

_RULES: Final = ("|", "-", ":")

InlineRule = Callable[[StateInline, bool], bool]
Nesting = Literal[-1, 0, 1]


def paid_parser() -> MarkdownIt:
    """Return a parser that accepts no HTML and spends the `StepBudget` in its environment."""
    parser = MarkdownIt("js-default", {"linkify": False, "typographer": False})
    parser.inline = _Inline()
    parser.block = _Blocks()
    parser.inline.ruler.before("text", "paid", _inline_trial)
    parser.inline.ruler.at("link", _reading_ahead(link))
    parser.inline.ruler.at("image", _reading_ahead(image))
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before("table", "paid", _block_trial, {"alt": _ANY})
    parser.block.ruler.before("fence", "formula", _block_formula, {"alt": _ANY})
    return parser


def is_prose(text: str) -> bool:
    """Return whether the text is only words and paragraphs, which need no parser."""
    return _PROSE.fullmatch(text) is not None


def environment(effort: StepBudget) -> EnvType:
    """Return the environment to pass to the parser with a text."""
    return {_EFFORT: effort}


def effort_of(env: EnvType) -> StepBudget:
    """Return the allowance of the text that is being parsed or rendered."""
    effort: StepBudget = env[_EFFORT]
    return effort


_EFFORT: Final = "effort"


class _InlineState(StateInline):
    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        effort_of(self.env).spend(_TOKEN)
        return super().push(ttype, tag, nesting)


class _BlockState(StateBlock):
    def push(self, ttype: str, tag: str, nesting: Nesting) -> Token:
        effort_of(self.env).spend(_TOKEN)
        return super().push(ttype, tag, nesting)


class _Inline(ParserInline):
    def skipToken(self, state: StateInline) -> None:  # noqa: N802  (markdown-it's name)
        effort_of(state.env).spend(_SKIPPED)
        super().skipToken(state)

    def parse(self, src: str, md: MarkdownIt, env: EnvType, tokens: list[Token]) -> list[Token]:
        state = _InlineState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _Blocks(ParserBlock):
    def parse(
        self,
        src: str,
        md: MarkdownIt,
        env: EnvType,
        outTokens: list[Token],  # noqa: N803
    ) -> list[Token] | None:
        state = _BlockState(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens


def _inline_trial(state: StateInline, silent: bool) -> bool:
    effort_of(state.env).spend(_TRIAL)
    return False


def _block_trial(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    under = min(start + 1, end)
    # The table rule reads both lines to the end only if the second may be a delimiter row.
    ruled = state.src.startswith(_RULES, state.bMarks[under] + state.tShift[under])
    read = state.eMarks[under] - state.bMarks[start] if ruled else 0
    effort_of(state.env).spend(_BLOCK_TRIAL + read // _READ)
    return False


def _reading_ahead(rule: InlineRule) -> InlineRule:
    """Wrap a rule for `[` to charge for reading on to the paragraph's end if there is no link."""

    def charge(state: StateInline, silent: bool) -> bool:
        begin, rest = state.pos, state.posMax - state.pos
        if rule(state, silent):
            effort_of(state.env).spend((state.pos - begin) // _READ)
            return True
        address = state.src.find("](", begin, state.posMax)
        in_vain = state.posMax - address if address >= 0 else 0
        effort_of(state.env).spend(in_vain // _READ + rest // _COPIED)
        return False

    return charge


_FORMULA: Final = 2_000
"""The maximum length of a formula, in characters; longer ones are text."""
_BLOCK_ENDS: Final = {"$$": "$$", "\\[": "\\]"}
_INLINE_ENDS: Final = {**_BLOCK_ENDS, "\\(": "\\)"}


def _inline_formula(state: StateInline, silent: bool) -> bool:
    """Parse `$…$` and `\\(…\\)` within a line, `$$…$$` and `\\[…\\]` on a line of its own.

    As in Pandoc, a dollar sign before a space starts no formula, and one after a space or before a
    digit ends none: `$5 and $6` are prices.
    """
    opening = state.src[state.pos : state.pos + 2]
    closing = _INLINE_ENDS.get(opening)
    if closing is None:
        if not opening.startswith("$") or opening[1:].isspace():
            return False
        opening = closing = "$"
    begin = state.pos + len(opening)
    end = _end_of_formula(state.env, state.src, closing, begin, min(begin + _FORMULA, state.posMax))
    source = state.src[begin:end].strip() if end >= 0 else ""
    if not source or (closing == "$" and _is_price(state.src, end)):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.block = source, opening in _BLOCK_ENDS
    state.pos = end + len(closing)
    return True


def _is_price(text: str, end: int) -> bool:
    return text[end - 1].isspace() or text[end + 1 : end + 2].isdigit()


def _end_of_formula(env: EnvType, text: str, closing: str, begin: int, limit: int) -> int:
    """Return the position of the formula's end, or -1; `\\$` doesn't end it."""
    end = text.find(closing, begin, limit)
    while closing.startswith("$") and end > 0 and text[end - 1] == "\\":
        effort_of(env).spend(_TRIAL)
        end = text.find(closing, end + 1, limit)
    effort_of(env).spend(((limit if end < 0 else end) - begin) // _READ)
    return end


def _block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a formula that starts a line with `$$` or `\\[` and may span several lines."""
    begin = state.bMarks[start] + state.tShift[start]
    closing = _BLOCK_ENDS.get(state.src[begin : begin + 2])
    if closing is None or state.is_code_block(start):
        return False
    last = state.eMarks[end - 1]
    close = _end_of_formula(
        state.env, state.src, closing, begin + 2, min(begin + 2 + _FORMULA, last)
    )
    line = start
    while close >= 0 and line < end and state.eMarks[line] < close:
        line += 1
    if close < 0 or line >= end:
        return False
    text = state.getLines(start, line + 1, 0, keepLastLF=False).strip()
    source = text[2:-2].strip()
    if not source or not text.endswith(closing):
        return False
    if not silent:
        state.line = line + 1
        token = state.push("formula", "math", 0)
        token.content, token.block, token.map = source, True, [start, state.line]
    return True
