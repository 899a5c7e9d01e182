"""Frames messages for the wire: a big-endian length of four bytes, then the message as JSON.

The length is checked before anything is read or allocated, so a broken worker loses its own
connection and takes none of the server's memory (R53).
"""

import asyncio
import struct
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, BinaryIO

from devui.wire.messages import ToServer, ToWorker

MAX_FRAME = 32 * 1024 * 1024
"""The largest message, in bytes."""

_SAMPLE = 400
"""The number of bytes quoted from a message that is too large (R53)."""

_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """The bytes on the wire are not a valid message; the connection can't be used any more."""


class FrameTooLarge(WireError):
    """A message is larger than `MAX_FRAME`; none of it was sent."""


@cache
def codecs() -> ModuleType:
    """Load the codecs ahead of the first message, which would otherwise wait for the import."""
    return import_module("devui.wire.codecs")


def _frame(body: bytes) -> bytes:
    if len(body) > MAX_FRAME:
        sample = body[:_SAMPLE].decode(errors="replace")
        raise FrameTooLarge(
            f"a message of {len(body):,} bytes is over the limit of {MAX_FRAME:,}; "
            f"keep large data in artifacts, a part at a time. It begins: {sample}…"
        )
    return _LENGTH.pack(len(body)) + body


def for_worker(message: ToWorker) -> bytes:
    """Encode a message from the server."""
    return _frame(codecs().TO_WORKER.dump(message))


def for_server(message: ToServer) -> bytes:
    """Encode a message from a worker."""
    return _frame(codecs().TO_SERVER.dump(message))


def _length(header: bytes) -> int:
    size: int = _LENGTH.unpack(header)[0]
    if size > MAX_FRAME:
        raise WireError(f"a frame claims {size:,} bytes; the limit is {MAX_FRAME:,}")
    return size


def _decode(codec: Any, body: bytes) -> Any:
    try:
        return codec.load(body)
    except ValueError as error:
        raise WireError(f"not a message: {error}") from error


async def read_from_worker(stream: asyncio.StreamReader) -> ToServer | None:
    """Return a worker's next message, or None if the worker has closed the connection.

    Raises WireError for anything other than a whole, valid message.
    """
    try:
        body = await stream.readexactly(_length(await stream.readexactly(_LENGTH.size)))
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise WireError("the worker hung up in the middle of a message") from error
        return None
    message: ToServer = _decode(codecs().TO_SERVER, body)
    return message


def read_from_server(stream: BinaryIO) -> ToWorker | None:
    """Wait for the server's next message; None if the server has closed the connection."""
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    size = _length(header)
    body = stream.read(size)
    if len(body) < size:
        return None
    message: ToWorker = _decode(codecs().TO_WORKER, body)
    return message
