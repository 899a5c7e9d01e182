"""Converts files to parts that models accept (adk-runtime 8.8)."""

import html
import io
import re
import zipfile

from google.genai import types

_INLINE_PREFIXES = ("image/", "audio/", "video/")
_INLINE_TYPES = frozenset({"application/pdf"})
_XML_IMAGES = frozenset({"image/svg", "image/svg+xml", "image/xml"})
"""Images in name only: models accept them as text."""
_TEXT_TYPES = _XML_IMAGES | {
    "application/csv",
    "application/json",
    "application/svg+xml",
    "application/xml",
}
_DOCUMENT_TYPES = frozenset(
    {
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/octet-stream",
    }
)
_DOCUMENT = "word/document.xml"
_MAX_DOCUMENT = 10 * 1024 * 1024
"""How much of a document is unpacked, in bytes: a small archive may contain a huge file."""
_NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_DECLARED = re.compile(r"""\sxmlns(?::([\w.-]+))?\s*=\s*["']([^"']*)["']""")
_TEXT_SUFFIXES = (".csv", ".txt", ".json", ".xml")


def as_safe_part_for_llm(artifact: types.Part, artifact_name: str) -> types.Part:
    """Return the file if models accept its type, else its text if it has one, else a note about it.

    Parts without inline data are returned unchanged.
    """
    blob = artifact.inline_data
    if blob is None:
        return artifact
    essence, parted, settings = (blob.mime_type or "").partition(";")
    mime_type = essence.strip().lower()
    if _is_taken_inline(mime_type):
        return _of_type(artifact, blob, f"{mime_type}{parted}{settings}")
    mime_type = mime_type or "application/octet-stream"
    if blob.data is None:
        return types.Part(text=f"[Artifact {artifact_name} ({mime_type}) is empty.]")
    if mime_type in _DOCUMENT_TYPES or artifact_name.lower().endswith(".docx"):
        text = _document_text(blob.data)
        if text is not None:
            return types.Part(text=text)
    if _is_text(mime_type, artifact_name):
        return types.Part(text=blob.data.decode("utf-8", errors="replace"))
    size = len(blob.data) / 1024
    return types.Part(
        text=f"[Artifact {artifact_name} ({mime_type}, {size:.1f} KB) cannot be shown as text.]"
    )


def _of_type(artifact: types.Part, blob: types.Blob, mime_type: str) -> types.Part:
    """Return the file with its type spelled as models expect it."""
    if blob.mime_type == mime_type:
        return artifact
    new_blob = blob.model_copy(update={"mime_type": mime_type})
    return artifact.model_copy(update={"inline_data": new_blob})


def _document_text(data: bytes) -> str | None:
    """Return the paragraphs of a Word document; None if it isn't one.

    They are matched with patterns, since an XML parser can be made to run out of memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_DOCUMENT) as file:
            source = file.read(_MAX_DOCUMENT).decode("utf-8", errors="ignore")
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
        return None
    prefix = _prefix(source)
    runs = re.compile(rf"<{prefix}t(?:\s[^>]*)?>([^<]*)</{prefix}t\s*>")
    parts = re.split(rf"<{prefix}p(?:\s[^>]*)?>", source)
    paragraphs = ("".join(runs.findall(each)) for each in parts)
    return html.unescape("\n".join(each for each in paragraphs if each))


def _prefix(source: str) -> str:
    """Return the tags' namespace prefix in the document, as a pattern: usually `w:`."""
    for prefix, namespace in _DECLARED.findall(source):
        if namespace in _NAMESPACES:
            return f"{re.escape(prefix)}:" if prefix else ""
    return "w:"


def _is_taken_inline(mime_type: str) -> bool:
    if mime_type in _XML_IMAGES:
        return False
    return mime_type.startswith(_INLINE_PREFIXES) or mime_type in _INLINE_TYPES


def _is_text(mime_type: str, name: str) -> bool:
    if mime_type.startswith("text/") or mime_type in _TEXT_TYPES:
        return True
    return name.lower().endswith(_TEXT_SUFFIXES)
