"""Renders one page of a PDF as a PNG: the program of a child process (decisions/0025).

`python -m devui.web.panels.artifacts.pdf_renderer NUMBER` reads the file from standard input and
writes a line with the number of pages, then the image. On failure, it exits with the reason.
"""

import resource
import struct
import sys
import zlib
from contextlib import suppress
from typing import Any, Final

import pypdfium2

_WIDTH: Final = 1200
"""The width of a page in pixels."""
_MOST_PIXELS: Final = 6_000_000
_LARGEST_SCALE: Final = 4.0
_MEMORY: Final = 1_500_000_000
"""The memory limit of the process, in bytes."""
_SECONDS: Final = 10
_COLORS: Final = {1: 0, 3: 2}
"""PNG's color types by the number of channels in a bitmap: grayscale and RGB."""


def main() -> None:
    """Render the page whose number is the argument, counted from 1."""
    with suppress(ValueError, OSError):  # macOS refuses this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer.read())
        picture = _draw(document[int(sys.argv[1]) - 1])
    except (pypdfium2.PdfiumError, IndexError, MemoryError) as error:
        sys.exit(f"{error}")
    sys.stdout.buffer.write(f"{len(document)}\n".encode() + picture)


def _draw(page: Any) -> bytes:
    width, height = page.get_size()
    fitting = (_MOST_PIXELS / max(width * height, 1)) ** 0.5
    scale = min(_WIDTH / max(width, 1), fitting, _LARGEST_SCALE)
    return _png(page.render(scale=scale, rev_byteorder=True))


def _png(bitmap: Any) -> bytes:
    """Encode a bitmap as PNG; the zero before each row means that the row is unfiltered."""
    row, lines = bitmap.width * bitmap.n_channels, memoryview(bitmap.buffer).cast("B")
    starts = range(0, bitmap.height * bitmap.stride, bitmap.stride)
    pixels = b"".join(b"\0" + bytes(lines[start : start + row]) for start in starts)
    colors = _COLORS[bitmap.n_channels]
    head = struct.pack(">IIBBBBB", bitmap.width, bitmap.height, 8, colors, 0, 0, 0)
    chunks = (b"IHDR", head), (b"IDAT", zlib.compress(pixels, 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


if __name__ == "__main__":
    main()
