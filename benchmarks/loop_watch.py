"""`devui`, with a watch over its event loop.

usage: python -m benchmarks.loop_watch REPORT [devui's arguments]

At each SIGUSR1 the longest callbacks since the last one are written to REPORT, as JSON: for how
many milliseconds of processor time each had the loop, and the frames in which it was seen. A busy
machine does not change the processor time of a thread.
"""

import asyncio
import gc
import heapq
import json
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any, Final

from devui.cli.commands import main

GLANCE: Final = 0.01
"""Seconds between two looks at what the loop does."""
SHORTEST: Final = 10.0
"""Milliseconds of a callback that is worth a line."""
MOST: Final = 12
"""Callbacks that are reported."""
DEPTH: Final = 14
"""Frames of a stack that are reported."""


class LoopWatch:
    """Measures each callback of the event loop, and looks at the loop's thread meanwhile."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._loop_thread = threading.get_ident()
        self._stack: list[str] = []
        self._begun: float | None = None
        self._longest: list[tuple[float, int, list[str]]] = []
        self._count = 0
        self._wait = 0.0
        self._collected = 0.0
        self._collecting = 0.0

    def install(self) -> None:
        run = asyncio.events.Handle._run

        def measured(handle: asyncio.Handle) -> None:
            before, self._stack = time.thread_time(), []
            self._begun = time.monotonic()
            run(handle)
            self._begun = None
            self._note(1000 * (time.thread_time() - before))

        asyncio.events.Handle._run = measured  # type: ignore[method-assign]  # asyncio has no hook for it
        gc.callbacks.append(self._collect)
        signal.signal(signal.SIGUSR1, self._write)
        threading.Thread(target=self._look, daemon=True).start()

    def _note(self, spent: float) -> None:
        self._count += 1
        if spent >= SHORTEST:
            heapq.heappush(self._longest, (spent, self._count, self._stack))
            if len(self._longest) > MOST:
                heapq.heappop(self._longest)

    def _collect(self, phase: str, about: dict[str, int]) -> None:
        now = time.thread_time()
        if phase == "start":
            self._collecting = now
        else:
            self._collected = max(self._collected, 1000 * (now - self._collecting))

    def _look(self) -> None:
        """Note where the loop is, and how much others compute until this thread has its turn."""
        while True:
            before = time.process_time()
            time.sleep(GLANCE)
            self._wait = max(self._wait, 1000 * (time.process_time() - before))
            if self._begun is not None and time.monotonic() - self._begun > GLANCE:
                frame = sys._current_frames().get(self._loop_thread)
                self._stack = [
                    f"{Path(each.filename).name}:{each.lineno} {each.name}"
                    for each in traceback.extract_stack(frame)[-DEPTH:]
                ]

    def _write(self, number: int, frame: FrameType | None) -> None:
        longest: list[dict[str, Any]] = [
            {"ms": round(spent, 1), "stack": stack}
            for spent, _, stack in sorted(self._longest, reverse=True)
        ]
        record = {
            "callbacks": self._count,
            "waited_ms": round(self._wait, 1),
            "collected_ms": round(self._collected, 1),
            "longest": longest,
        }
        self._longest, self._count, self._wait, self._collected = [], 0, 0.0, 0.0
        part = self._report.with_suffix(".part")
        part.write_text(json.dumps(record))
        part.replace(self._report)


if __name__ == "__main__":
    LoopWatch(Path(sys.argv.pop(1))).install()
    main()
