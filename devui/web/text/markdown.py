"""Markdown of agents and users as inert HTML (R18).

Three layers, each enough by itself for the usual attack: the parser takes no HTML, the cleaner
keeps a short list of tags and attributes, and the template puts the result inside `hx-ignore`.
Pictures become links, so that showing a message contacts no host (R19). Text that is too long,
that takes too much work or that the parser gives up on is shown as it is, escaped, in a `<pre>`.

Parsing is pure Python and quadratic in bad cases, hence an allowance of work for each text. It is
counted in steps and not in time: what a reader sees depends on the text alone.

Its parser is quadratic in bad cases. What it can repeat without end is paid here, by the piece:
each trial of its rules, each token that it makes or skips, and the characters that a rule reads
ahead in vain. What remains is in proportion to these.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, Literal

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from devui.web.text import formulas, highlighting
from devui.web.text.highlighting import Effort, TooMuch

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

_DRAWN: Final = 10
"""Steps for each character of a formula that is drawn."""

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
    parser.inline.ruler.before("escape", "formula", _inline_formula)
    parser.block.ruler.before("table", "paid", _block_trial, {"alt": _ANY})
    parser.block.ruler.before("fence", "formula", _block_formula, {"alt": _ANY})
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
"""Characters of a formula; what is longer is text."""
_BLOCK_ENDS: Final = {"$$": "$$", "\\[": "\\]"}
_INLINE_ENDS: Final = {**_BLOCK_ENDS, "\\(": "\\)"}


def _inline_formula(state: StateInline, silent: bool) -> bool:
    """`$…$` and `\\(…\\)` within a line, `$$…$$` and `\\[…\\]` on a line of its own.

    As in Pandoc, a dollar sign begins no formula before a space, and ends none after a space or
    before a digit: `$5 and $6` are prices.
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
    """Where the formula's end is, or -1; a dollar sign after a backslash is a part of it."""
    end = text.find(closing, begin, limit)
    while closing.startswith("$") and end > 0 and text[end - 1] == "\\":
        effort_of(env).spend(_TRIAL)
        end = text.find(closing, end + 1, limit)
    effort_of(env).spend(((limit if end < 0 else end) - begin) // _READ)
    return end


def _block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula that begins a line with `$$` or `\\[`, also over several lines."""
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


MAX_CHARACTERS: Final = 65_536
"""Longer messages are shown as they are."""

ALLOWANCE: Final = 150_000
"""Steps for one message, the colours of its code included; cleaning it comes on top."""

_PROSE: Final = re.compile(
    r"(?:(?:\n+|\A)(?!\d{1,9}[.)])[^\W_]"
    r"(?:[^\W_]|[ ,.;:?!'\"()/%…\u2013\u2014\u2018-\u201d-])*+(?<! ))++\n*"
)
"""Lines of letters and punctuation that mean nothing in Markdown, wherever they are."""
_BETWEEN: Final = re.compile(r"\n{2,}")

_CACHE_ENTRIES: Final = 1024
_CACHE_CHARACTERS: Final = 8_192
_LONG_CACHE_ENTRIES: Final = 64
_ALIGNMENTS: Final = {"left", "center", "right"}
_TAGS: Final = {
    *("a", "blockquote", "br", "button", "code", "del", "div", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "input", "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody"),
    *("td", "th", "thead", "tr", "ul"),
    *formulas.TAGS,
}
_ATTRIBUTES: Final = {
    "a": {"href", "title"},
    "button": {"aria-label", "data-copy-code", "title", "type"},
    "div": {"aria-label", "role", "tabindex"},
    "input": {"aria-label", "checked", "disabled", "type"},
    "ol": {"start"},
    **formulas.ATTRIBUTES,
}
"""What the renderer writes: the parser takes no HTML from a text."""
_SCHEMES: Final = {"http", "https", "mailto"}
_CELL_CLASSES: Final = {f"align-{side}" for side in _ALIGNMENTS}


def to_html(text: str) -> Markup:
    """Return `text` as clean HTML; never raises, whatever the text is."""
    if len(text) > MAX_CHARACTERS:
        return _plain(text)
    return _cached(text) if len(text) <= _CACHE_CHARACTERS else _cached_long(text)


def is_parsed(text: str) -> bool:
    """Whether showing the text takes the parser: it has more than words and paragraphs."""
    return len(text) <= MAX_CHARACTERS and _PROSE.fullmatch(text) is None


async def prepare(texts: Iterable[str]) -> None:
    """Convert texts ahead on another thread, so that a template finds them done.

    A page of a hundred messages would otherwise hold the event loop while it renders.
    """
    await asyncio.to_thread(_prepare, tuple(texts))


def _prepare(texts: tuple[str, ...]) -> None:
    for text in texts:
        if len(text) <= MAX_CHARACTERS:
            to_html(text)


@lru_cache(maxsize=_CACHE_ENTRIES)
def _cached(text: str) -> Markup:
    return _convert(text)


@lru_cache(maxsize=_LONG_CACHE_ENTRIES)
def _cached_long(text: str) -> Markup:
    return _convert(text)


def _convert(text: str) -> Markup:
    if _PROSE.fullmatch(text):
        return _paragraphs(text)
    env = environment(Effort(ALLOWANCE))
    try:
        tokens = _PARSER.parse(text, env)
        html = _PARSER.renderer.render(tokens, _PARSER.options, env)
    except (TooMuch, RecursionError, ValueError, IndexError):
        # A reader who gets the plain text is better off than one who gets an error page.
        return _plain(text)
    # Definitions of links show nothing; a message of nothing else is shown as it is, too.
    return _clean(html) if html or not text.strip() else _plain(text)


def _paragraphs(text: str) -> Markup:
    """What the parser makes of prose, without it: none of its characters means anything in HTML."""
    return _clean("".join(f"<p>{each}</p>\n" for each in _BETWEEN.split(text.strip("\n"))))


def _plain(text: str) -> Markup:
    return _clean(f"<pre>{escapeHtml(text)}</pre>")


def _clean(html: str) -> Markup:
    """Keep what is harmless: the one place where text becomes markup, whatever made it."""
    safe = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_absolute_only,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        allowed_classes={
            "button": {"copy-code"},
            "div": {"code", "table"},
            "li": {"todo"},
            "span": highlighting.CLASSES,
            "pre": {"highlight"},
            "td": _CELL_CLASSES,
            "th": _CELL_CLASSES,
        },
    )
    return Markup(safe)  # noqa: S704


def _absolute_only(tag: str, attribute: str, value: str) -> str | None:
    """Drop addresses without a scheme: they would point at this server."""
    if (tag, attribute) != ("a", "href"):
        return value
    return value if value.lower().startswith(("http://", "https://", "mailto:")) else None


def _image(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Show a picture as a link to it."""
    token = tokens[index]
    label = self.renderInlineAsText(token.children, options, env) or "image"
    return f'<a href="{escapeHtml(str(token.attrGet("src") or ""))}">{escapeHtml(label)}</a>'


def _cell(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Align a cell by class: the policy of the page takes no inline style."""
    token = tokens[index]
    side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
    if side in _ALIGNMENTS:
        token.attrSet("class", f"align-{side}")
    return self.renderToken(tokens, index, options, env)


def _fence(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Colour a block of code; the info string selects from a fixed table and is never shown."""
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    code = highlighting.to_html(token.content, language, effort_of(env))
    return (
        f'<div class="code"><pre class="highlight"><code>{code}</code></pre>'
        '<button class="copy-code" type="button" data-copy-code aria-label="Copy code"'
        ' title="Copy code"></button></div>'
    )


def _table_open(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A table too wide for its place scrolls by itself, with the keyboard, too."""
    return '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n'


def _table_close(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>\n"


_TASKS: Final = {"[ ] ": ("", "To do"), "[x] ": (" checked", "Done"), "[X] ": (" checked", "Done")}


def _item(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """An item of a list; `[ ]` or `[x]` at its beginning is a box that nobody can tick."""
    words = tokens[index + 2] if tokens[index + 1].type == "paragraph_open" else None
    first = words.children[0] if words is not None and words.children else None
    task = _TASKS.get(first.content[:4]) if first is not None and first.type == "text" else None
    if task is None or first is None:
        return self.renderToken(tokens, index, options, env)
    first.content = first.content[4:]
    checked, label = task
    return f'<li class="todo"><input type="checkbox" disabled{checked} aria-label="{label}"> '


def _formula(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """A formula as MathML; one that can't be drawn is shown as it is written."""
    token = tokens[index]
    effort_of(env).spend(_DRAWN * len(token.content))
    mathml = formulas.to_mathml(token.content, block=token.block)
    return mathml or f"<code>{escapeHtml(token.content)}</code>"


_PARSER: Final = paid_parser()
for _name, _rule in {
    "image": _image,
    "formula": _formula,
    "list_item_open": _item,
    "table_open": _table_open,
    "table_close": _table_close,
    "td_open": _cell,
    "th_open": _cell,
    "fence": _fence,
    "code_block": _fence,
}.items():
    _PARSER.add_render_rule(_name, _rule)
