"""Watches whether the journal accepts writes, and publishes when that changes (R41, R42).

No disk reports that it has room again, so while the journal refuses writes, it is probed
regularly. Otherwise pages would report a full disk until somebody does something. Runs that the end
of the last server cut off are marked first, or as soon as the journal accepts writes (R55).
"""

import asyncio
import logging
from contextlib import suppress
from types import TracebackType
from typing import Self

from devui.debugger.background.tasks import Tasks
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import APPS, JournalChanged, News, RunChanged
from devui.debugger.runs.live import unfinished
from devui.store.errors import PASSING, JournalError
from devui.store.journal import Journal

_log = logging.getLogger("devui.runs")

_SECONDS = 1.0
"""The interval between attempts."""


class Health:
    """Watches a journal for as long as its context lasts."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus
        self._tasks = Tasks()
        self._trying: asyncio.Task[None] | None = None
        self._leaving = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._journal.on_trouble(self._on_trouble)
        if self._journal.trouble is not None:  # since it was opened
            self._on_trouble(self._journal.trouble)
        if cut_off := await self._journal.runs.under_way():
            try:
                await self._mark(self._journal, cut_off)
            except PASSING:
                self._tasks.start(self._mark_later(cut_off), "marking runs that were cut off")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.on_trouble(None)
        self._leaving.set()
        if self._trying is not None:
            self._trying.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    def _on_trouble(self, trouble: JournalError | None) -> None:
        self._bus.publish(APPS, JournalChanged())
        if trouble is None:
            # A commit that was reported as failed may be in the journal after all. Retrying it then
            # publishes nothing, so all readers have to read the journal again to miss nothing.
            self._bus.restart()
        if trouble is not None and (self._trying is None or self._trying.done()):
            self._trying = self._tasks.start(self._try_again(), "trying the journal")

    async def _try_again(self) -> None:
        while self._journal.trouble is not None:
            await asyncio.sleep(_SECONDS)
            with suppress(JournalError):  # whoever writes next gets the current error
                await self._journal.probe()

    async def _mark(self, journal: Journal, runs: list[str]) -> None:
        for run in await journal.runs.interrupt_active(unfinished, only=runs):
            _log.warning("run %s was interrupted by the end of the last server", run.id)
            self._bus.publish(run.session, RunChanged(run))

    async def _mark_later(self, runs: list[str]) -> None:
        with suppress(*PASSING):  # the server is stopping: the next one marks them
            await self._mark(self._journal.patient(self._leaving), runs)
