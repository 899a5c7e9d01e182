"""Gives memory back to the system after large requests, and keeps the collector from stopping all.

glibc keeps what was freed for what may come: a server that has once exported a session of fifty
megabytes would be that much larger for as long as it lives.

Python's collector looks at all objects each time their number has grown by a quarter, and no other
thread runs meanwhile: 50 ms for the modules of a server alone, 100 ms for a large JSON text that is
being read. Nearly all memory is freed without it.
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
"""Bytes by which the process has to be larger than it has been."""
QUIET: Final = 1.0
"""Seconds from the end of a request on; others that end meanwhile are served by the same."""
_SELDOM: Final = 32.0
"""The most seconds, while there is nothing to give back."""
_WORTH: Final = 1_000_000
"""Bytes that are worth another look soon."""

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Names of parameters in glibc's malloc.h."""
_LARGE: Final = 1_000_000
"""Bytes from which on a block has pages of its own, which go back when it is freed. Without this
glibc raises the limit to the largest block that it has seen."""
_ARENAS: Final = 2
"""Heaps that threads share; each keeps what was freed in it."""
_STATUS: Final = Path("/proc/self/statm")

_THRESHOLDS: Final = (700, 10, 1000)
"""Python's own for young objects; all are looked at after some million new ones."""


class Trimmed:
    """An application after whose requests unused memory is given back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._trim = _trimmer()
        self._smallest: int | None = None
        """Bytes that the process had before its first request, or fewer if it ever had fewer."""
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
        # To count what is frozen takes 50 ms of a server, so that is asked last.
        if len(sys.modules) > self._modules and gc.get_freeze_count():
            gc.collect()  # what is frozen as garbage stays for good
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
    """Bytes of memory that the process holds, or 0 where the system does not tell."""
    try:
        pages = int(_STATUS.read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * resource.getpagesize()


def spare_collections() -> None:
    """Keep collections short in a process that is a server and nothing else.

    Modules stay for good, so the collector need not look at what has been loaded, now or later.
    """
    gc.set_threshold(*_THRESHOLDS)
    gc.freeze()


def give_back_large_blocks() -> None:
    """Let large texts go back to the system as they are freed, as far as the C library can."""
    with suppress(OSError, AttributeError):
        options = _library().mallopt
        options(_MMAP_THRESHOLD, _LARGE)
        options(_ARENA_MAX, _ARENAS)


def _trimmer() -> Callable[[], object] | None:
    """glibc's `malloc_trim`; None with another C library."""
    with suppress(OSError, AttributeError):
        trim = _library().malloc_trim
        return lambda: trim(0)
    return None


def _library() -> ctypes.CDLL:
    """The C library; raises OSError where it is not glibc."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        raise OSError("only glibc has these functions")
    return ctypes.CDLL(None)
