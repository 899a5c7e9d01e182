"""What a page shows of a file's content: CSV as a table, JSON as a tree, other text as text.

HTML and SVG are text here: nothing in a file acts. What is cut ends with `…`, which tells the
redactor that a secret may be cut in two (R64).
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
from devui.web.text.formats import plural
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

MEDIA: Final[Mapping[str, Medium]] = {
    **dict.fromkeys(("image/png", "image/jpeg", "image/gif", "image/webp"), "picture"),
    **dict.fromkeys(("audio/mpeg", "audio/mp3", "audio/wav", "audio/x-wav"), "audio"),
    **dict.fromkeys(("audio/ogg", "audio/flac", "audio/mp4", "audio/webm"), "audio"),
    **dict.fromkeys(("video/mp4", "video/webm", "video/ogg"), "video"),
}
"""Types of files that a page shows as they are."""
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
"""What the bytes of a file begin with, whatever it is said to be."""
URL_SAFE: Final = str.maketrans("-_", "+/")
"""ADK's JSON has bytes in either alphabet of base64."""
_READ: Final = 65_536
"""Bytes of a file that are looked at in a message."""
_JSON: Final = 2_000_000
"""Characters of JSON that are shown as a tree."""
_DELIMITERS: Final = {"text/csv": ",", "text/tab-separated-values": "\t"}
_TEXTS: Final = frozenset(
    {
        *("application/javascript", "application/sql", "application/toml", "application/x-ndjson"),
        *("application/x-python-code", "application/x-sh", "application/x-yaml"),
        *("application/json", "application/xml", "application/yaml", "image/svg+xml"),
    }
)


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a file a place shows."""

    characters: int
    rows: int
    columns: int
    cell: int
    """Characters of a cell."""


_MESSAGE: Final = Room(characters=8_000, rows=50, columns=20, cell=200)


def media_type(content_type: object) -> str:
    """The type without its parameters: `text/csv` of `text/csv; charset=utf-8`."""
    return str(content_type or "").partition(";")[0].strip().lower()


def is_textual(mime: str) -> bool:
    """Whether files of a media type are text."""
    return mime.startswith("text/") or mime in _TEXTS or mime.endswith(("+json", "+xml"))


def is_true_type(mime: str, content: bytes) -> bool:
    """Whether the bytes look like what they are declared to be."""
    if mime == "text/plain":
        return b"\0" not in content
    return re.match(_MAGIC[mime], content, re.DOTALL) is not None


PDF: Final = "application/pdf"


def pdf_preview(href: str) -> PdfPreview:
    """The preview of the PDF whose bytes are at `href`."""
    return PdfPreview(pdf_page_url(href, 1), pdf_pages_url(href)) if can_draw() else PdfPreview()


def preview_of(data: Mapping[str, Any], href: str = "") -> FilePreview | None:
    """The preview of an `inlineData` in a message, whose bytes are at `href`; None for what is
    neither text nor a PDF."""
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
    text, is_cut = content.decode("utf-8-sig", "replace"), len(base64_text) > most
    if not text or "\0" in text:
        return None
    return text_preview(text, mime, _MESSAGE, is_cut=is_cut)


def text_preview(text: str, mime: str, room: Room, *, is_cut: bool = False) -> FilePreview:
    """The preview of a text, which is the file's beginning if it `is_cut`."""
    structured: FilePreview | None = None
    if (mime == "application/json" or mime.endswith("+json")) and not is_cut:
        structured = _tree(text)
    elif mime in _DELIMITERS:
        structured = _table(text, _DELIMITERS[mime], room, is_cut=is_cut)
    if structured is not None:
        return structured
    is_long = is_cut or len(text) > room.characters
    beginning = shortened(text + ELLIPSIS if is_cut else text, room.characters)
    return PlainPreview(visible(beginning), "The rest of the file is not shown." if is_long else "")


def _tree(text: str) -> JsonTree | None:
    """None for what is no JSON, whatever it is called, and for what is too large."""
    try:
        return json_tree(json.loads(text)) if len(text) <= _JSON else None
    except (ValueError, RecursionError):
        return None


def _table(text: str, delimiter: str, room: Room, *, is_cut: bool) -> TablePreview | None:
    """The first rows; the last one of a file that is cut may not be whole, and is left out."""
    try:
        every = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return None
    rows = [row for row in (every[:-1] if is_cut else every) if row]
    if not rows:
        return None
    head, *body = (tuple(_cells(row, room)) for row in rows[: room.rows + 1])
    remaining = len(rows) - 1 - len(body)
    more = "More rows are not shown." if is_cut else f"{plural(remaining, 'more row')} not shown."
    return TablePreview(head, tuple(body), more if remaining or is_cut else "")


def _cells(row: list[str], room: Room) -> Iterator[str]:
    yield from (visible(shortened(cell, room.cell)) for cell in islice(row, room.columns))
    if len(row) > room.columns:
        yield ELLIPSIS
