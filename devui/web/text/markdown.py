"""Markdown of agents and users as inert HTML (R18).

Three layers, each enough by itself for the usual attack: the parser takes no HTML, the cleaner
keeps a short list of tags and attributes, and the template puts the result inside `hx-ignore`.
Pictures become links, so that showing a message contacts no host (R19). Text that is too long,
that takes too much work or that the parser gives up on is shown as it is, escaped, in a `<pre>`.

Parsing is pure Python and quadratic in bad cases, hence an allowance of work for each text. It is
counted in steps and not in time: what a reader sees depends on the text alone.
"""

import asyncio
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import nh3
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from devui.web.text import highlighting
from devui.web.text.effort import Effort, TooMuch
from devui.web.text.paid_markdown import effort_of, environment, paid_parser

MAX_CHARACTERS: Final = 65_536
"""Longer messages are shown as they are."""

ALLOWANCE: Final = 150_000
"""Steps for one message, the colours of its code included; cleaning it comes on top."""

_CACHE_ENTRIES: Final = 1024
_CACHE_CHARACTERS: Final = 8_192
_LONG_CACHE_ENTRIES: Final = 64
_ALIGNMENTS: Final = {"left", "center", "right"}
_TAGS: Final = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li"),
    *("ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_SCHEMES: Final = {"http", "https", "mailto"}
_CELL_CLASSES: Final = {f"align-{side}" for side in _ALIGNMENTS}


def to_html(text: str) -> Markup:
    """Return `text` as clean HTML; never raises, whatever the text is."""
    if len(text) > MAX_CHARACTERS:
        return _plain(text)
    return _cached(text) if len(text) <= _CACHE_CHARACTERS else _cached_long(text)


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
    env = environment(Effort(ALLOWANCE))
    try:
        tokens = _PARSER.parse(text, env)
        html = _PARSER.renderer.render(tokens, _PARSER.options, env)
    except (TooMuch, RecursionError, ValueError, IndexError):
        # A reader who gets the plain text is better off than one who gets an error page.
        return _plain(text)
    # Definitions of links show nothing; a message of nothing else is shown as it is, too.
    return _clean(html) if html or not text.strip() else _plain(text)


def _plain(text: str) -> Markup:
    return _clean(f"<pre>{escapeHtml(text)}</pre>")


def _clean(html: str) -> Markup:
    """Keep what is harmless: the one place where text becomes markup, whatever made it."""
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        attribute_filter=_absolute_only,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        allowed_classes={
            "span": highlighting.CLASSES,
            "pre": {"highlight"},
            "td": _CELL_CLASSES,
            "th": _CELL_CLASSES,
        },
    )
    return Markup(cleaned)  # noqa: S704


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
    return f'<pre class="highlight"><code>{code}</code></pre>'


_PARSER: Final = paid_parser()
for _name, _rule in {
    "image": _image,
    "td_open": _cell,
    "th_open": _cell,
    "fence": _fence,
    "code_block": _fence,
}.items():
    _PARSER.add_render_rule(_name, _rule)
