"""Previews of artifacts.

Their content is never trusted: the browser shows only types known to be inert. Everything else is
shown as text; HTML and SVG as source.
"""

import mimetypes
from typing import Final

from devui.store.rows import Artifact
from devui.web.panels.artifacts.parts import ArtifactPreview
from devui.web.panels.chat.previews import (
    MEDIA,
    PDF,
    PreviewLimits,
    is_textual,
    media_type,
    pdf_preview,
    text_preview,
)
from devui.web.text.deceptive_characters import visible

_TAB: Final = PreviewLimits(characters=100_000, rows=200, columns=40, cell=300)


def type_of(artifact: Artifact) -> str:
    """Return the declared media type without parameters; if there is none, the type that the name's
    suffix suggests."""
    media = media_type(artifact.row.mime)
    if media not in {"", "application/octet-stream"}:
        return media
    mime = mimetypes.guess_type(artifact.row.name)[0]
    if artifact.data is None:
        return mime if mime and is_textual(mime) else "text/plain"
    return mime or media or "application/octet-stream"


def text_of(artifact: Artifact) -> str | None:
    """Return the artifact as text; None if it isn't text."""
    if artifact.text is not None:
        return artifact.text
    data = artifact.data or b""
    if not is_textual(type_of(artifact)) or b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def artifact_preview(artifact: Artifact, href: str) -> ArtifactPreview:
    """Return the preview of an artifact whose content is at the URL `href`."""
    name, mime = visible(artifact.row.name), type_of(artifact)
    if (medium := MEDIA.get(mime)) and artifact.data is not None:
        return ArtifactPreview(href, name, medium)
    if mime == PDF and artifact.data is not None:
        return ArtifactPreview(href, name, content=pdf_preview(href))
    text = text_of(artifact)
    return ArtifactPreview(
        href, name, content=None if text is None else text_preview(text, mime, _TAB)
    )
