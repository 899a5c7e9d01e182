"""The end of a run, which no failure of the disk can prevent (R42, R50).

It is written to the journal at once, and then readers see it. If the journal refuses, the run is
over nevertheless and readers see that; the journal gets the end with the next change it accepts.
"""

import asyncio
import json
import logging
from dataclasses import asdict

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, RunChanged
from devui.debugger.runs.live import LiveRun
from devui.store.errors import JournalClosed, RunNotFound, StoreError
from devui.store.journal import Journal
from devui.store.rows import RunStatus
from devui.wire.errors import AgentError

_log = logging.getLogger("devui.runs")

_SECONDS, _LONGEST = 1.0, 8.0
"""Seconds between two attempts: at first, and at most."""


class RunEnd:
    """Writes the end of one run to the journal."""

    def __init__(self, live: LiveRun, journal: Journal, bus: Bus[News]) -> None:
        self._live = live
        self._journal = journal
        self._bus = bus
        self._over = live.row

    def tell(
        self, status: RunStatus, error: AgentError | None = None, unfinished: str | None = None
    ) -> None:
        """Record that the run is over; `unfinished` is JSON text (`LiveRun.unfinished`)."""
        self._over = self._journal.runs.defer_end(
            self._live.row,
            status,
            error=json.dumps(asdict(error)) if error else None,
            unfinished=unfinished,
            paused=self._live.stepper.held_seconds,
            stopped_by=self._live.stopped_by if status == "stopped" else None,
        )

    async def write(self) -> None:
        """Try once to write the end. Readers see it either way."""
        if not await self._write():
            self._publish()

    async def finish(self) -> None:
        """Retry until the end is written, or there is nothing left to write to."""
        seconds = _SECONDS
        while self._live.row.pending and not await self._write():
            await asyncio.sleep(seconds)
            seconds = min(2 * seconds, _LONGEST)

    async def _write(self) -> bool:
        run = self._live.row.id
        try:
            self._live.row = await self._journal.runs.end(run)
        except (RunNotFound, JournalClosed):  # its session was deleted, or the server stops
            return True
        except (StoreError, MemoryError) as error:
            _log.warning("the end of run %s is not written yet: %s", run, error)
            self._live.row = self._over
            return False
        self._publish()
        return True

    def _publish(self) -> None:
        self._bus.publish(self._live.session.key, RunChanged(self._live.row))
