"""What a run has told and the journal has not been given yet: chunks, output, spans, touches."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from devui.debugger.runs.live import LiveRun
from devui.store.journal import Journal

T = TypeVar("T")

logger = logging.getLogger("devui.runs")


class Unwritten:
    """Gathered in the live run, so that many small things are one change of the journal."""

    def __init__(self, live: LiveRun, journal: Journal) -> None:
        self._live = live
        self._journal = journal

    async def write(self) -> None:
        """Write what waits. Raises StoreError."""
        await asyncio.gather(*self._take())

    async def write_before(self, commit: Coroutine[Any, Any, T]) -> T:
        """Put what waits before an event, or the end, to go to the disk together with it."""
        before = [asyncio.ensure_future(change) for change in self._take()]
        last = asyncio.ensure_future(commit)
        for error in await asyncio.gather(*before, return_exceptions=True):
            if error is not None:  # a lost log line is no reason to refuse what it is about
                run = self._live.row.id
                logger.error("run %s: something was not recorded", run, exc_info=error)
        return await last

    def _take(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Take what waits, as changes of the journal to be made in this order."""
        live = self._live
        engine, live.engine = live.engine, None
        chunks, live.chunks = live.chunks, []
        output, live.output = live.output, []
        spans = live.recording.take()
        if engine:
            yield self._journal.replays.set_engine(live.row.id, engine)
        if chunks:
            yield self._journal.events.add_chunks(live.session.key, live.row.id, chunks)
        if output:
            yield self._journal.runs.add_output(live.row.id, output)
        if touches := live.touches.waiting():
            yield self._journal.uncommitted.put(live.session.key, live.row.id, touches)
        if spans:
            yield self._journal.spans.add(live.session.key, spans.starts, spans.ends, spans.pieces)
