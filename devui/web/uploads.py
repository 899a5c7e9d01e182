"""Uploads: request bodies that are written to an unnamed file, up to a size limit (R26)."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from devui.debugger.background.jobs import UNWATCHED, JobStopped, Progress
from devui.web.errors import BadRequest, TooLarge, UnsupportedMedia
from devui.web.sse import STALLED

LARGEST: Final = 1_000_000_000
"""The maximum size of a bundle in bytes."""


async def body_into(
    request: Request, file: IO[bytes], *, progress: Progress, limit: int = LARGEST
) -> None:
    """Write the body of a JSON request to a file, reporting its bytes to `progress`.

    Raises TooLarge, UnsupportedMedia, JobStopped.
    """
    _require_plain(request, "application/json")
    async for chunk in limit_chunks(request, limit, progress):
        file.write(chunk)


async def form_file(
    request: Request, name: str, *, progress: Progress, limit: int = LARGEST
) -> UploadFile:
    """Return the file in a form's field, reporting the form's bytes to `progress`.

    Raises BadRequest, TooLarge, UnsupportedMedia, JobStopped.
    """
    _require_plain(request, "multipart/form-data")
    chunks = limit_chunks(request, limit, progress)
    parser = MultiPartParser(request.headers, chunks, max_files=1, max_fields=8)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadRequest(f"the form can't be read: {error.message}") from error
    file = form.get(name)
    if not isinstance(file, UploadFile) or not file.filename:
        raise BadRequest("choose a file")
    return file


def spool(folder: Path) -> AbstractContextManager[IO[bytes]]:
    """Return an unnamed file in `folder`, which is deleted when it is closed."""
    return tempfile.TemporaryFile(dir=folder)


def _require_plain(request: Request, media: str) -> None:
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise UnsupportedMedia("compressed bodies aren't accepted; send the file uncompressed")
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() != media:
        raise UnsupportedMedia(f"the body must be sent as {media}")


def size_of(request: Request) -> int:
    """Return the body's size in bytes, as the request declares it; 0 if it doesn't."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    try:
        async with asyncio.timeout(STALLED):
            return await anext(chunks, None)
    except TimeoutError as error:
        raise JobStopped from error


async def limit_chunks(
    request: Request, limit: int, progress: Progress = UNWATCHED
) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives, reporting its bytes to `progress`.

    Raises TooLarge, and JobStopped if the job was stopped or nothing arrives for `STALLED` seconds.
    """
    size, chunks = 0, aiter(request.stream())
    while (chunk := await _next(chunks)) is not None:
        size += len(chunk)
        if size > limit:
            raise TooLarge(limit)
        progress.advance(len(chunk))
        yield chunk
