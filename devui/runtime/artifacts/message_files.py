"""Files in messages: saved as artifacts and replaced by notes (adk-runtime 10.4)."""

import logging
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from google.genai import types

logger = logging.getLogger(__name__)

MAX_BYTES: Final = 20 * 1024 * 1024
_MODELS_CAN_READ: Final = frozenset({"gs", "https", "http"})


class SavedFile(NamedTuple):
    """What became of a file in a message."""

    parts: list[types.Part]
    """The parts that replace it."""
    version: int | None = None
    """The saved version; None if it wasn't saved."""


async def save_file(
    service: Any,
    part: types.Part,
    name: str,
    *,
    attach_file_reference: bool = True,
    **owner: Any,
) -> SavedFile:
    """Save the file in `part` under `name`; if saving fails, the part stays as it is.

    `service` is an artifact service, `owner` its app, user and session. With
    `attach_file_reference`, the message also refers to the artifact's URI, if models can read it.
    """
    blob = part.inline_data or types.Blob()
    size = len(blob.data or b"")
    if size > MAX_BYTES:
        problem = f"{name} has {size / 2**20:.2f} MB; files may have {MAX_BYTES // 2**20} MB"
        return SavedFile([types.Part(text=f"[Upload Error: {problem}.]")])
    try:
        version = await service.save_artifact(**owner, filename=name, artifact=part.model_copy())
        row = await service.get_artifact_version(**owner, filename=name, version=version)
    except Exception:
        logger.exception("Could not save file %r of a user message.", name)
        return SavedFile([part])
    parts = [types.Part(text=f'[Uploaded Artifact: "{name}"]')]
    uri = row.canonical_uri if row else ""
    if attach_file_reference and urlsplit(uri).scheme in _MODELS_CAN_READ:
        file = types.FileData(file_uri=uri, mime_type=blob.mime_type, display_name=name)
        parts.append(types.Part(file_data=file))
    return SavedFile(parts, version)
