"""Whether the journal takes changes, told to readers when that turns (R41, R42).

No disk says when it has room again. So while the journal takes nothing somebody has to try, or a
page would tell of a full disk until a person does something.
"""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from devui.debugger.bus import Bus
from devui.debugger.news import APPS, JournalChanged, News
from devui.debugger.tasks import Tasks
from devui.store.errors import JournalError
from devui.store.journal import Journal

_SECONDS = 1.0
"""Between two tries."""


class Health:
    """Watches a journal; a context manager that ends when the watching does."""

    def __init__(self, journal: Journal, bus: Bus[News]) -> None:
        self._journal = journal
        self._bus = bus
        self._tasks = Tasks()
        self._trying: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._journal.on_trouble(self._turned)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.on_trouble(None)
        if self._trying is not None:
            self._trying.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    def _turned(self, trouble: JournalError | None) -> None:
        self._bus.publish(APPS, JournalChanged())
        if trouble is None:
            # A commit may have been reported as failed and be there: tried again it is nothing new,
            # and nobody tells of it. Whoever reads the journal again misses nothing.
            self._bus.restart()
        if trouble is not None and (self._trying is None or self._trying.done()):
            self._trying = self._tasks.start(self._try_again(), "trying the journal")

    async def _try_again(self) -> None:
        while self._journal.trouble is not None:
            await asyncio.sleep(_SECONDS)
            with suppress(JournalError):  # whatever it is now: who changes something is told
                await self._journal.probe()
