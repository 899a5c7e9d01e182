"""Updates the journal's search index: not with each event, but when somebody searches."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from devui.debugger.background.tasks import Tasks
from devui.debugger.search.query import search_text
from devui.store.errors import StoreError
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.store.search import SearchText
from devui.wire.events import Event

_BATCH: Final = 200
"""How many events are indexed together, so that an append waits some milliseconds at most."""
_PATIENCE: Final = 0.3
"""How long a search waits for new events to be indexed, in seconds."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """How much of the journal is indexed, as seqs."""

    indexed: int
    last: int

    @property
    def is_whole(self) -> bool:
        """Whether everything is indexed."""
        return self.indexed >= self.last

    @property
    def percent(self) -> int:
        """0 to 99, or 100 if everything is indexed."""
        return 100 if self.is_whole else min(99, 100 * self.indexed // self.last)


class SearchIndex:
    """The indexer; it starts with the first search, and continues in the background."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._tasks = Tasks()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    async def catch_up(self, patience: float = _PATIENCE) -> Progress:
        """Index the events added since the last search, for at most `patience` seconds; the rest
        follows in the background."""
        progress = Progress(*await self._journal.search.progress())
        if progress.is_whole:
            return progress
        if self._task is None or self._task.done():
            self._task = self._tasks.start(self._index(), "indexing events for the search")
        await asyncio.wait({self._task}, timeout=patience)
        return Progress(*await self._journal.search.progress())

    async def _index(self) -> None:
        search = self._journal.search
        seq, _ = await search.progress()
        try:
            while events := await search.following(seq, _BATCH):
                await search.add(await asyncio.to_thread(_texts, events))
                seq = events[-1][0].seq
        except StoreError as error:  # the next search tries again
            _log.warning("the search index isn't up to date: %s", error)


def _texts(events: Sequence[tuple[EventRow, Event]]) -> list[SearchText]:
    return [search_text(row, event) for row, event in events]
