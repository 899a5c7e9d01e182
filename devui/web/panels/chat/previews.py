"""Previews of files: CSV as a table, JSON as a tree, other text as plain text.

HTML and SVG are shown as text, so nothing in a file is active. Truncated text ends with `…`, which
tells the redactor that a secret may be cut in two (R64).
"""

import base64
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from devui.debugger.events.preview import ELLIPSIS, shortened
from devui.web.basic_parts import JsonTree
from devui.web.links import pdf_page_url, pdf_pages_url
from devui.web.panels.artifacts.pdf import can_draw
from devui.web.panels.chat.content_parts import (
    FilePreview,
    Medium,
    PdfPreview,
    PlainPreview,
    TablePreview,
)
from devui.web.panels.chat.file_data import SIZE
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_tree

MEDIA: Final[Mapping[str, Medium]] = {
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), "picture"),
    **dict.fromkeys(("audio/mpeg", "audio/mp3", "audio/wav", "audio/x-wav"), "audio"),
    **dict.fromkeys(("audio/ogg", "audio/flac", "audio/mp4", "audio/webm"), "audio"),
    **dict.fromkeys(("video/mp4", "video/webm", "video/ogg"), "video"),
}
"""The media types that a page shows directly."""
OPENS_IN_BROWSER: Final = frozenset({*MEDIA, "text/plain"})
"""The media types that a browser may open; other files are only downloaded."""
_MAGIC: Final = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF....WEBP",
    **dict.fromkeys(("audio/mpeg", "audio/mp3"), rb"ID3|\xff[\xe2-\xff]"),
    **dict.fromkeys(("audio/wav", "audio/x-wav"), rb"RIFF....WAVE"),
    **dict.fromkeys(("audio/ogg", "video/ogg"), rb"OggS"),
    "audio/flac": rb"fLaC",
    **dict.fromkeys(("audio/mp4", "video/mp4"), rb"....ftyp"),
    **dict.fromkeys(("audio/webm", "video/webm"), rb"\x1aE\xdf\xa3"),
}
"""What files of these types begin with, to check the declared type."""
URL_SAFE: Final = str.maketrans("-_", "+/")
"""ADK's JSON uses both the standard and the URL-safe base64 alphabet."""
_READ: Final = 65_536
"""How many bytes of a file in a message are read for its preview."""
_JSON: Final = 2_000_000
"""The longest JSON text, in characters, that is shown as a tree."""
_DELIMITERS: Final = {"text/csv": ",", "text/tab-separated-values": "\t"}
_TEXTS: Final = frozenset(
    {
        *("application/javascript", "application/sql", "application/toml", "application/x-ndjson"),
        *("application/x-python-code", "application/x-sh", "application/x-yaml"),
        *("application/json", "application/xml", "application/yaml", "image/svg+xml"),
    }
)


@dataclass(frozen=True, slots=True)
class PreviewLimits:
    """The limits of a preview."""

    characters: int
    rows: int
    columns: int
    cell: int
    """The maximum number of characters in a cell."""


_MESSAGE: Final = PreviewLimits(characters=8_000, rows=50, columns=20, cell=200)


def media_type(content_type: object) -> str:
    """Return the media type without parameters: `text/csv` for `text/csv; charset=utf-8`."""
    return str(content_type or "").partition(";")[0].strip().lower()


def is_textual(mime: str) -> bool:
    """Return whether files of this media type are text."""
    return mime.startswith("text/") or mime in _TEXTS or mime.endswith(("+json", "+xml"))


def is_true_type(mime: str, content: bytes) -> bool:
    """Return whether the content looks like the declared type."""
    if mime == "text/plain":
        return b"\0" not in content
    return re.match(_MAGIC[mime], content, re.DOTALL) is not None


PDF: Final = "application/pdf"


def pdf_preview(href: str) -> PdfPreview:
    """Return the preview of the PDF at the URL `href`."""
    return PdfPreview(pdf_page_url(href, 1), pdf_pages_url(href)) if can_draw() else PdfPreview()


def preview_of(data: Mapping[str, Any], href: str = "") -> FilePreview | None:
    """Return the preview of a message's `inlineData`, whose content is at the URL `href`.

    None if it is neither text nor a PDF.
    """
    mime, base64_text = media_type(data.get("mimeType")), str(data.get("data") or "")
    if mime == PDF and href:
        return pdf_preview(href)
    if not is_textual(mime):
        return None
    most = _READ // 3 * 4
    try:
        content = base64.b64decode(base64_text[:most].translate(URL_SAFE), validate=True)
    except ValueError:
        return None
    text, is_cut = content.decode("utf-8-sig", "replace"), len(base64_text) > most or SIZE in data
    if not text or "\0" in text:
        return None
    return text_preview(text, mime, _MESSAGE, is_cut=is_cut)


def text_preview(
    text: str, mime: str, limits: PreviewLimits, *, is_cut: bool = False
) -> FilePreview:
    """Return the preview of a text; with `is_cut`, it is only the beginning of the file."""
    structured: FilePreview | None = None
    if (mime == "application/json" or mime.endswith("+json")) and not is_cut:
        structured = _tree(text)
    elif mime in _DELIMITERS:
        structured = _table(text, _DELIMITERS[mime], limits, is_cut=is_cut)
    if structured is not None:
        return structured
    is_long = is_cut or len(text) > limits.characters
    beginning = shortened(text + ELLIPSIS if is_cut else text, limits.characters)
    return PlainPreview(visible(beginning), "The rest of the file is not shown." if is_long else "")


def _tree(text: str) -> JsonTree | None:
    """Return the tree; None if the text isn't valid JSON or is too large."""
    try:
        return json_tree(json.loads(text)) if len(text) <= _JSON else None
    except (ValueError, RecursionError):
        return None


def _table(
    text: str, delimiter: str, limits: PreviewLimits, *, is_cut: bool
) -> TablePreview | None:
    """Return the first rows; the last row of a truncated file may be incomplete and is left out."""
    try:
        every = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return None
    rows = [row for row in (every[:-1] if is_cut else every) if row]
    if not rows:
        return None
    head, *body = (tuple(_cells(row, limits)) for row in rows[: limits.rows + 1])
    remaining = len(rows) - 1 - len(body)
    more = "More rows are not shown." if is_cut else f"{plural(remaining, 'more row')} not shown."
    return TablePreview(head, tuple(body), more if remaining or is_cut else "")


def _cells(row: list[str], limits: PreviewLimits) -> Iterator[str]:
    yield from (visible(shortened(cell, limits.cell)) for cell in islice(row, limits.columns))
    if len(row) > limits.columns:
        yield ELLIPSIS
