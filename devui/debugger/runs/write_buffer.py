"""What a run has reported that isn't in the journal yet: chunks, output, spans, touches."""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from devui.debugger.runs.live import LiveRun
from devui.store.journal import Journal

T = TypeVar("T")

logger = logging.getLogger("devui.runs")


class WriteBuffer:
    """Data gathered in the live run, so that many small items make one change of the journal."""

    def __init__(self, live: LiveRun, journal: Journal) -> None:
        self._live = live
        self._journal = journal

    async def write(self) -> None:
        """Write what waits. Raises StoreError."""
        await asyncio.gather(*self._take())

    async def write_before(self, commit: Coroutine[Any, Any, T]) -> T:
        """Write what waits before an event or the end, so that both go to the disk together."""
        before = [asyncio.ensure_future(change) for change in self._take()]
        last = asyncio.ensure_future(commit)
        for error in await asyncio.gather(*before, return_exceptions=True):
            if error is not None:  # a lost log line is no reason to refuse an event
                run = self._live.row.id
                logger.error("run %s: part of it was not recorded", run, exc_info=error)
        return await last

    def _take(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Take what waits, and yield the changes of the journal to make in this order."""
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
