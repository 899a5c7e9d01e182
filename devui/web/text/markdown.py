"""Renders Markdown from agents and users as inert HTML (R18).

There are three layers, each sufficient against the usual attacks: the parser accepts no HTML, the
cleaner allows only a few tags and attributes, and the template puts the result inside `hx-ignore`.
Images become links, so that showing a message contacts no host (R19); a button beside each loads it
in a frame of its own. Text that is too long, takes
too much work or fails to parse is shown as is, escaped, in a `<pre>`.
"""

import asyncio
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import nh3
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from devui.web.text import formulas, highlighting
from devui.web.text.markdown_parser import effort_of, environment, is_prose, paid_parser
from devui.web.text.remote_pictures import RemotePicture, remote_picture
from devui.web.text.step_budget import StepBudget, TooMuch

_DRAWN: Final = 10
"""Steps per character of a rendered formula."""

MAX_CHARACTERS: Final = 65_536
"""Longer messages are shown without formatting."""

ALLOWANCE: Final = 150_000
"""Steps per message, including code highlighting but not cleaning."""

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
    "button": {"aria-label", "data-copy-code", "data-load-picture", "title", "type"},
    "div": {"aria-label", "role", "tabindex"},
    "input": {"aria-label", "checked", "disabled", "type"},
    "ol": {"start"},
    **formulas.ATTRIBUTES,
}
"""The attributes that the renderer writes; the parser accepts no HTML."""
_SCHEMES: Final = {"http", "https", "mailto"}
_CELL_CLASSES: Final = {f"align-{side}" for side in _ALIGNMENTS}


def to_html(text: str) -> Markup:
    """Return `text` as clean HTML; never raises."""
    if len(text) > MAX_CHARACTERS:
        return _plain(text)
    return _cached(text) if len(text) <= _CACHE_CHARACTERS else _cached_long(text)


def is_parsed(text: str) -> bool:
    """Return whether rendering the text needs the parser: it is more than words and paragraphs."""
    return len(text) <= MAX_CHARACTERS and not is_prose(text)


async def prepare(texts: Iterable[str]) -> None:
    """Convert texts on another thread in advance, so that templates find them in the cache.

    A page of a hundred messages would otherwise block the event loop while it renders.
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
    if is_prose(text):
        return _paragraphs(text)
    env = environment(StepBudget(ALLOWANCE))
    try:
        tokens = _PARSER.parse(text, env)
        html = _PARSER.renderer.render(tokens, _PARSER.options, env)
    except (TooMuch, RecursionError, ValueError, IndexError):
        # Plain text is better than an error page.
        return _plain(text)
    # Link definitions render as nothing, so a message of nothing else is shown as plain text.
    return _clean(html) if html or not text.strip() else _plain(text)


def _paragraphs(text: str) -> Markup:
    """Render prose as the parser would, without it; prose has no characters to escape."""
    return _clean("".join(f"<p>{each}</p>\n" for each in _BETWEEN.split(text.strip("\n"))))


def _plain(text: str) -> Markup:
    return _clean(f"<pre>{escapeHtml(text)}</pre>")


def _clean(html: str) -> Markup:
    """Keep only harmless HTML. This is the only place where text becomes markup."""
    safe = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_absolute_only,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        allowed_classes={
            "button": {"copy-code", "load-picture"},
            "div": {"code", "diagram", "table"},
            "li": {"todo"},
            "span": highlighting.CLASSES,
            "pre": {"highlight"},
            "td": _CELL_CLASSES,
            "th": _CELL_CLASSES,
        },
    )
    return Markup(safe)  # noqa: S704


def _absolute_only(tag: str, attribute: str, value: str) -> str | None:
    """Drop links without a scheme, which would point to this server."""
    if (tag, attribute) != ("a", "href"):
        return value
    return value if value.lower().startswith(("http://", "https://", "mailto:")) else None


def _image(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render an image as a link to it, with a button that loads it.

    Within a link, it becomes the text of that link, and its own link comes after it.
    """
    token = tokens[index]
    label = escapeHtml(self.renderInlineAsText(token.children, options, env) or "image")
    address = str(token.attrGet("src") or "")
    if _PICTURES not in env:
        return _picture(address, label)
    env[_PICTURES].append(address)
    return label


_PICTURES: Final = "pictures"
"""In the environment: the images of the link that is being rendered."""


def _link_open(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    env[_PICTURES] = []
    return self.renderToken(tokens, index, options, env)


def _link_close(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</a>" + "".join(f" {_picture(address, 'image')}" for address in env.pop(_PICTURES))


def _picture(address: str, label: str) -> str:
    link = f'<a href="{escapeHtml(address)}">{label}</a>'
    remote = remote_picture(address)
    return f"<span>{link} {_load_button(remote)}</span>" if remote else link


def _load_button(remote: RemotePicture) -> str:
    return (
        '<button class="load-picture" type="button"'
        f' data-load-picture="{escapeHtml(remote.address)}">'
        f"Load picture from {escapeHtml(remote.host)}</button>"
    )


def _cell(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Align a cell with a class: the page's CSP allows no inline styles."""
    token = tokens[index]
    side = str(token.attrs.pop("style", "")).removeprefix("text-align:")
    if side in _ALIGNMENTS:
        token.attrSet("class", f"align-{side}")
    return self.renderToken(tokens, index, options, env)


def _fence(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Highlight a code block; the info string selects from a fixed table and is never shown."""
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    code = highlighting.to_html(token.content, language, effort_of(env))
    kind = "code diagram" if language.lower() == _MERMAID and _is_closed(token) else "code"
    return (
        f'<div class="{kind}"><pre class="highlight"><code>{code}</code></pre>'
        '<button class="copy-code" type="button" data-copy-code aria-label="Copy code"'
        ' title="Copy code"></button></div>'
    )


_MERMAID: Final = "mermaid"


def _is_closed(token: Token) -> bool:
    """Return whether a fence has its closing line: until then, more of its code may arrive."""
    first, end = token.map or (0, 0)
    lines = token.content.count("\n") + (not token.content.endswith("\n"))
    return end - first - 1 > lines


def _table_open(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Open a table that scrolls on its own if it is too wide, with the keyboard, too."""
    return '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n'


def _table_close(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    return "</table></div>\n"


_TASKS: Final = {"[ ] ": ("", "To do"), "[x] ": (" checked", "Done"), "[X] ": (" checked", "Done")}


def _item(
    self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """Render a list item; `[ ]` or `[x]` at its start becomes a disabled checkbox."""
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
    """Render a formula as MathML, or as its source if it is invalid."""
    token = tokens[index]
    effort_of(env).spend(_DRAWN * len(token.content))
    mathml = formulas.to_mathml(token.content, block=token.block)
    return mathml or f"<code>{escapeHtml(token.content)}</code>"


_PARSER: Final = paid_parser()
for _name, _rule in {
    "image": _image,
    "link_open": _link_open,
    "link_close": _link_close,
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
