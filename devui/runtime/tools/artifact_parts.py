"""Files in a form that models take (adk-runtime 8.8)."""

from google.genai import types

_INLINE_PREFIXES = ("image/", "audio/", "video/")
_INLINE_TYPES = frozenset({"application/pdf"})
_XML_IMAGES = frozenset({"image/svg", "image/svg+xml", "image/xml"})
"""Images in name only: models take them as text."""
_TEXT_TYPES = _XML_IMAGES | {
    "application/csv",
    "application/json",
    "application/svg+xml",
    "application/xml",
}
_TEXT_SUFFIXES = (".csv", ".txt", ".json", ".xml")


def as_safe_part_for_llm(artifact: types.Part, artifact_name: str) -> types.Part:
    """The file itself if models take its type, its text if it has one, else a note about it.

    Parts without inline data are returned as they are.
    """
    blob = artifact.inline_data
    if blob is None:
        return artifact
    mime_type = (blob.mime_type or "").partition(";")[0].strip().lower()
    if _is_taken_inline(mime_type):
        return artifact
    mime_type = mime_type or "application/octet-stream"
    if blob.data is None:
        return types.Part(text=f"[Artifact {artifact_name} ({mime_type}) is empty.]")
    if _is_text(mime_type, artifact_name):
        return types.Part(text=blob.data.decode("utf-8", errors="replace"))
    size = len(blob.data) / 1024
    return types.Part(
        text=f"[Artifact {artifact_name} ({mime_type}, {size:.1f} KB) cannot be shown as text.]"
    )


def _is_taken_inline(mime_type: str) -> bool:
    if mime_type in _XML_IMAGES:
        return False
    return mime_type.startswith(_INLINE_PREFIXES) or mime_type in _INLINE_TYPES


def _is_text(mime_type: str, name: str) -> bool:
    if mime_type.startswith("text/") or mime_type in _TEXT_TYPES:
        return True
    return name.lower().endswith(_TEXT_SUFFIXES)
