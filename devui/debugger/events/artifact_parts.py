"""Conversion of artifacts to and from Parts in wire form (adk-web 1.1)."""

import base64
import re
from dataclasses import dataclass
from typing import Any, Final

from devui.store.rows import Artifact

_NOTE: Final = '[Uploaded Artifact: "{}"]'
_NOTED: Final = re.compile(r'\[Uploaded Artifact: "(.*)"\]', re.DOTALL)


class InvalidRequest(ValueError):
    """A request is well-formed but asks for something invalid."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a Part: bytes with their MIME type, or a text."""

    mime: str | None
    data: bytes | None
    text: str | None


def note_of(name: str) -> str:
    """Return the text in place of a file that was saved with its message (adk-runtime 10.4)."""
    return _NOTE.format(name)


def noted_file(text: str | None) -> str:
    """Return the name of the file that a text is in place of; "" if it is another text."""
    match = _NOTED.fullmatch(text or "")
    return match[1] if match else ""


def content_of(part: Any) -> Content:
    """Return what to store of a Part; its bytes may be in either alphabet of base64.

    Raises InvalidRequest if it isn't a Part, ValueError if the bytes aren't base64.
    """
    blob = (part.get("inlineData") or {}) if isinstance(part, dict) else None
    if not isinstance(blob, dict):
        raise InvalidRequest("an artifact must be a Part")
    data = base64.urlsafe_b64decode(blob["data"]) if "data" in blob else None
    return Content(blob.get("mimeType"), data, part.get("text"))


def part_of(artifact: Artifact) -> dict[str, Any]:
    """Return an artifact as a Part in wire form; bytes are URL-safe base64."""
    if artifact.data is None:
        return {"text": artifact.text or ""}
    data = base64.urlsafe_b64encode(artifact.data).decode()
    kind = {"mimeType": artifact.row.mime} if artifact.row.mime else {}
    return {"inlineData": {**kind, "data": data}}
