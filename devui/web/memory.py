"""Returns memory to the system after large requests, and keeps garbage collections short.

glibc keeps freed memory for later: a server that once exported a session of fifty megabytes would
stay that much larger for the rest of its life.

Python's collector scans all objects each time their number has grown by a quarter, and blocks all
threads while it does: 50 ms for the modules of a server alone, 100 ms more while a large JSON text
is being parsed. Reference counting frees nearly all memory without it.
"""

import asyncio
import ctypes
import gc
import platform
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

GROWTH: Final = 8_000_000
"""How many bytes the process must have grown, since it was smallest, to be trimmed."""
QUIET: Final = 1.0
"""Seconds from the end of a request to the trim, which also covers requests that end meanwhile."""
_SELDOM: Final = 32.0
"""The longest such wait in seconds, reached when there was little to return."""
_WORTH: Final = 1_000_000
"""How many bytes a trim must return for the next one to come soon."""

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""The numbers of these parameters in glibc's malloc.h."""
_LARGE: Final = 1_000_000
"""The size in bytes from which a block gets its own pages, which are returned when it is freed.
Without this, glibc raises the threshold to the size of the largest block freed so far."""
_ARENAS: Final = 2
"""How many heaps the threads share; each keeps its own freed memory."""
_STATUS: Final = Path("/proc/self/statm")

_THRESHOLDS: Final = (700, 10, 1000)
"""Python's defaults for young objects; a full collection comes only after some million new ones."""


class MemoryTrimming:
    """An ASGI application that returns unused memory to the system after its requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._trim = _trimmer()
        self._smallest: int | None = None
        """The smallest size of the process so far, in bytes; first measured before its first
        request."""
        self._modules = len(sys.modules)
        self._wait = QUIET
        self._due: asyncio.TimerHandle | None = None
        self._giving: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._smallest is None:
            self._smallest = _resident()
        try:
            await self._app(scope, receive, send)
        finally:
            if self._due is None:
                self._due = asyncio.get_running_loop().call_later(self._wait, self._look)

    def _look(self) -> None:
        self._due = None
        # Counting the frozen objects of a server takes 50 ms, so this check comes last.
        if len(sys.modules) > self._modules and gc.get_freeze_count():
            gc.collect()  # garbage that is frozen is never freed
            gc.freeze()
        self._modules = len(sys.modules)
        resident = _resident()
        smallest = self._smallest = min(self._smallest or resident, resident)
        if self._trim is not None and resident >= smallest + GROWTH:
            self._giving = asyncio.ensure_future(self._give_back(self._trim))

    async def _give_back(self, trim: Callable[[], object]) -> None:
        before = _resident()
        await asyncio.to_thread(trim)
        worth = before - _resident() > _WORTH
        self._wait = QUIET if worth else min(2 * self._wait, _SELDOM)


def _resident() -> int:
    """Return the process's resident memory in bytes; 0 if the system doesn't report it."""
    try:
        pages = int(_STATUS.read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()


def spare_collections() -> None:
    """Keep collections short in a process that is only a server.

    Modules are never unloaded, so the collector can skip everything loaded so far; `MemoryTrimming`
    freezes later imports.
    """
    gc.set_threshold(*_THRESHOLDS)
    gc.freeze()


def give_back_large_blocks() -> None:
    """Make large blocks return to the system when they are freed, if the C library can do that."""
    with suppress(OSError, AttributeError):
        options = _library().mallopt
        options(_MMAP_THRESHOLD, _LARGE)
        options(_ARENA_MAX, _ARENAS)


def _trimmer() -> Callable[[], object] | None:
    """Return glibc's `malloc_trim`, or None with another C library."""
    with suppress(OSError, AttributeError):
        trim = _library().malloc_trim
        return lambda: trim(0)
    return None


def _library() -> ctypes.CDLL:
    """Return the C library. Raises OSError if it isn't glibc."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        raise OSError("only glibc has these functions")
    return ctypes.CDLL(None)
