"""Run `devui` and watch its event loop.

usage: python -m benchmarks.loop_watch REPORT [devui's arguments]

Each SIGUSR1 writes the longest callbacks since the last one to REPORT, as JSON: how many
milliseconds of CPU time each held the loop, and the frames in which it was seen. The CPU time of a
thread doesn't depend on how busy the machine is.
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
"""Seconds between two samples of the loop."""
SHORTEST: Final = 10.0
"""Milliseconds from which on a callback is reported."""
MOST: Final = 12
"""The most callbacks to report."""
DEPTH: Final = 14
"""The most frames of a stack to report."""


class LoopWatch:
    """Measures each callback of the event loop, and samples the stack of the loop's thread."""

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
        """Sample the loop's stack, and the CPU time others use until this thread has its turn."""
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
