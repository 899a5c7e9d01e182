"""Notices when agent code holds the event loop, and says where it stands (R52)."""

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace

from devui.wire.messages import Blocked

PATIENCE = 5.0
"""Seconds without a turn of the loop after which it counts as blocked."""
_BEAT = 0.5
_ACCIDENT = 2.0
"""Seconds that a busy machine may take for one turn."""


class Watchdog:
    """A thread that sees whether the loop still turns."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        send: Callable[[Blocked], None],
        who: Callable[[float], Blocked],
    ) -> None:
        """`who` says whose code has held the loop for so many seconds."""
        self._loop = loop
        self._send = send
        self._who = who
        self._loop_thread = threading.get_ident()
        self._last = time.monotonic()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Watch until `stop`; call from the thread the loop runs in."""
        threading.Thread(target=self._watch, name="devui-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no more."""
        self._stopped.set()

    @property
    def silence(self) -> float:
        """Seconds for which the loop has not turned, as far as that is no accident; else 0."""
        silent = time.monotonic() - self._last
        return silent if silent > _ACCIDENT else 0.0

    def _beat(self) -> None:
        self._last = time.monotonic()

    def _watch(self) -> None:
        told = False
        while not self._stopped.wait(_BEAT):
            silent = time.monotonic() - self._last
            if silent >= PATIENCE and not told:
                self._send(replace(self._who(silent), stack=self._stack()))
                told = True
            elif told and silent < PATIENCE:
                self._send(Blocked(seconds=0.0, stack=""))
                told = False
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._beat)

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._loop_thread)
        return "".join(traceback.format_stack(frame)[-12:]) if frame else ""
