"""markdown-it, with every piece of its work paid for.

Its parser is quadratic in bad cases. What it can repeat without end is paid here, by the piece:
each trial of its rules, each token that it makes or skips, and the characters that a rule reads
ahead in vain. What remains is in proportion to these.
"""

from collections.abc import Callable
from typing import Final, Literal

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType

from devui.web.text.effort import Effort

_ANY: Final = ["paragraph", "reference", "blockquote", "list"]
"""Where one block may end another; these trials are paid, too."""
_TRIAL: Final = 3
_BLOCK_TRIAL: Final = 6
_TOKEN: Final = 5
_SKIPPED: Final = 1
_READ: Final = 5
"""Characters a step that are looked at one by one."""
_COPIED: Final = 250
"""Characters a step that are searched or copied as a whole."""

_RULES: Final = ("|", "-", ":")

InlineRule = Callable[[StateInline, bool], bool]
Nesting = Literal[-1, 0, 1]


def paid_parser() -> MarkdownIt:
    """A parser without HTML, which spends the `Effort` of the environment it is given."""
    parser = MarkdownIt("js-default", {"linkify": False, "typographer": False})
    parser.inline = _Inline()
    parser.block = _Blocks()
    parser.inline.ruler.before("text", "paid", _inline_trial)
    parser.inline.ruler.at("link", _reading_ahead(link))
    parser.inline.ruler.at("image", _reading_ahead(image))
    parser.block.ruler.before("table", "paid", _block_trial, {"alt": _ANY})
    return parser


def environment(effort: Effort) -> EnvType:
    """What to give the parser along with a text."""
    return {_EFFORT: effort}


def effort_of(env: EnvType) -> Effort:
    """What is left for the text that is being parsed or rendered."""
    effort: Effort = env[_EFFORT]
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
    # Only a line that may be the rule under a table's head makes anybody read two lines to the end.
    ruled = state.src.startswith(_RULES, state.bMarks[under] + state.tShift[under])
    read = state.eMarks[under] - state.bMarks[start] if ruled else 0
    effort_of(state.env).spend(_BLOCK_TRIAL + read // _READ)
    return False


def _reading_ahead(rule: InlineRule) -> InlineRule:
    """A rule for `[`, which reads to the end of the paragraph for a link that is none."""

    def paid(state: StateInline, silent: bool) -> bool:
        begun, rest = state.pos, state.posMax - state.pos
        if rule(state, silent):
            effort_of(state.env).spend((state.pos - begun) // _READ)
            return True
        address = state.src.find("](", begun, state.posMax)
        in_vain = state.posMax - address if address >= 0 else 0
        effort_of(state.env).spend(in_vain // _READ + rest // _COPIED)
        return False

    return paid
