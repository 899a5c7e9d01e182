"""Changes that wait until the journal takes them (R41, R42).

Whoever asks over HTTP is told at once that the disk is full, and decides. A run cannot decide: it
stands still until the journal takes its next change, so that nothing of it is lost.
"""

import asyncio
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from devui.store.batches import T, Work
from devui.store.database import Database, Snapshot
from devui.store.errors import PASSING

_SECONDS = 1.0
"""Between two tries."""


class PatientDatabase(Database):
    """The same file by the same connections; only its changes wait."""

    def __init__(self, database: Database, hurry: asyncio.Event) -> None:
        """`hurry` is set when nothing is to be waited for any more."""
        self._database = database
        self._hurry = hurry

    async def write(self, work: Work[T]) -> T:
        """As `Database.write`; what passes is waited for, until somebody is in a hurry."""
        try:
            return await self._database.write(work)
        except PASSING:
            if self._hurry.is_set():
                raise
        with self._database.waited_for():
            return await self._write_again(work)

    async def _write_again(self, work: Work[T]) -> T:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), _SECONDS)
            try:
                return await self._database.write(work)
            except PASSING:
                if self._hurry.is_set():
                    raise

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """As `Database.fetch`."""
        return await self._database.fetch(sql, *parameters)

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """As `Database.snapshot`."""
        return self._database.snapshot()
