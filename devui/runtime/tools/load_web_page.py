"""`load_web_page`: the text of a page of the web (adk-runtime 8.8)."""

import re
import time
from html.parser import HTMLParser
from typing import Any

from devui.runtime.http_client import httpx
from devui.runtime.tools.effect import read_only
from devui.runtime.tools.openapi_tool.openapi_spec_parser.public_hosts import public_host_now

_SECONDS = 30
"""To wait for the host's next word."""
_ALL_SECONDS = 60
"""For the whole page."""
_BYTES = 10 * 1024 * 1024
_WORDS = 4
"""A line with fewer is a menu's or a button's."""
_INLINE = frozenset(
    (
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "dfn", "em", "font", "i", "kbd"),
        *("label", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u"),
        *("var", "wbr"),
    )
)
_CHARSET = re.compile(rb"charset=[\"']?([\w-]+)", re.IGNORECASE)
_TEXTS = re.compile(r"text/|application/([\w.-]+\+)?(xml|json)")


@read_only
def load_web_page(url: str) -> str:
    """Read the text of a web page.

    Args:
        url: Where the page is; it begins with https:// or http://.

    Returns:
        The text, without menus and short lines; or "Failed to fetch url" and why. A redirect is
        not followed but told, and hosts that are not public are out of reach.
    """
    try:
        return read_page(url)
    except (ValueError, httpx.HTTPError, httpx.InvalidURL) as error:
        return f"Failed to fetch url: {url} ({str(error) or type(error).__name__})"


def read_page(url: str, *, allow_private_network_access: bool = False) -> str:
    """The text of a page, also of your own network if you say so.

    Raises:
        ValueError: the host is not public, answers otherwise than with a text of at most 10 MB,
            or takes longer than a minute.
        httpx.HTTPError: the host cannot be reached; httpx.InvalidURL: that is no URL.
    """
    where = httpx.URL(url)
    if where.scheme not in {"http", "https"}:
        raise ValueError("a page's address begins with https:// or http://")
    headers = {"Host": where.netloc.decode(), "User-Agent": "devui"}
    extensions = {}
    if not allow_private_network_access:
        pinned = public_host_now(str(where))
        extensions["sni_hostname"] = pinned.name
        where = httpx.URL(pinned.url(str(where)))
    with (
        httpx.Client(timeout=_SECONDS, trust_env=False) as client,
        client.stream("GET", where, headers=headers, extensions=extensions) as response,
    ):
        kind = _kind(response)
        body = _body(response)
    text = body.decode(_charset(response, body), errors="replace")
    return shown(text) if "html" in kind else text


def shown(html: str) -> str:
    """The text that a page shows, a line for each block of four words and more."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.pieces).split("\n"))
    return "\n".join(line for line in lines if len(line.split()) >= _WORDS)


def _kind(response: Any) -> str:
    status = response.status_code
    if status != httpx.codes.OK:
        leads = response.headers.get("location")
        raise ValueError(f"HTTP {status}" + (f", it leads to {leads}" if leads else ""))
    kind = str(response.headers.get("content-type") or "text/html").lower()
    if not _TEXTS.match(kind):
        raise ValueError(f"it is no text but {kind}")
    return kind


def _body(response: Any) -> bytes:
    end = time.monotonic() + _ALL_SECONDS
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > _BYTES:
            raise ValueError(f"it is longer than {_BYTES} bytes")
        if time.monotonic() > end:
            raise ValueError(f"it was not there after {_ALL_SECONDS} seconds")
    return bytes(body)


def _charset(response: Any, body: bytes) -> str:
    told = _CHARSET.search(body[:1024])
    name = response.charset_encoding or (told.group(1).decode() if told else "utf-8")
    try:
        b"  ".decode(name, errors="replace")
    except LookupError:  # an empty text would not be looked up
        return "utf-8"
    return str(name)


class _Text(HTMLParser):
    """Collects what is shown; elements that are not within a line begin and end one."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _INLINE:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:  # the inside of a script or style
            self.pieces.append(re.sub(r"\s+", " ", data))
