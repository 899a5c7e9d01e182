"""Files that come in with a request: into a file without a name, and not without end (R26)."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from devui.web.errors import BadRequest, TooLarge, UnsupportedMedia

LARGEST: Final = 1_000_000_000
"""Bytes of a bundle."""


async def body_into(request: Request, file: IO[bytes], *, limit: int = LARGEST) -> None:
    """Write the body of a JSON request into a file; raises TooLarge, UnsupportedMedia."""
    _require_plain(request, "application/json")
    async for chunk in _limited(request, limit):
        file.write(chunk)


async def form_file(request: Request, name: str, *, limit: int = LARGEST) -> UploadFile:
    """The file of a form's field; raises BadRequest, TooLarge, UnsupportedMedia."""
    _require_plain(request, "multipart/form-data")
    parser = MultiPartParser(request.headers, _limited(request, limit), max_files=1, max_fields=8)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadRequest(f"the form cannot be read: {error.message}") from error
    found = form.get(name)
    if not isinstance(found, UploadFile) or not found.filename:
        raise BadRequest("choose a file first")
    return found


def spool(folder: Path) -> AbstractContextManager[IO[bytes]]:
    """A file without a name on the data folder's disk; it is gone when it is closed."""
    return tempfile.TemporaryFile(dir=folder)


def _require_plain(request: Request, media: str) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("compressed bodies are not taken; send the file as it is")
    declared = request.headers.get("content-type", "")
    if declared.partition(";")[0].strip().lower() != media:
        raise UnsupportedMedia(f"the body must be sent as {media}")


async def _limited(request: Request, limit: int) -> AsyncGenerator[bytes, None]:
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise TooLarge(limit)
        yield chunk
