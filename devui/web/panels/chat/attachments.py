"""The composer's message: its text and the attached files."""

import base64
import mimetypes
from typing import Any, Final

from starlette.datastructures import FormData, UploadFile

MESSAGE_LIMIT: Final = 15_000_000
"""The maximum size of a message with its files, in bytes. Base64 adds a third, and an event has to
fit in one message to the worker."""
_UNKNOWN: Final = "application/octet-stream"


async def message_in(form: FormData) -> dict[str, Any] | None:
    """Return the user's Content in wire form: the text, then each file; None if there is
    neither."""
    text = str(form.get("text") or "").strip()
    parts: list[dict[str, Any]] = [{"text": text}] if text else []
    parts += [await _part(file) for file in attached_files(form)]
    return {"role": "user", "parts": parts} if parts else None


def attached_files(form: FormData) -> list[UploadFile]:
    """Return the files attached to the message."""
    files = (file for file in form.getlist("files") if isinstance(file, UploadFile))
    return [file for file in files if file.filename]


async def _part(file: UploadFile) -> dict[str, Any]:
    name = (file.filename or "").replace("\\", "/").rpartition("/")[2]
    content_type = file.content_type or _UNKNOWN
    mime = (mimetypes.guess_type(name)[0] if content_type == _UNKNOWN else None) or content_type
    data = base64.urlsafe_b64encode(await file.read()).decode()
    return {"inlineData": {"mimeType": mime, "data": data, "displayName": name}}
