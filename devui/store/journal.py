"""The journal: everything devui keeps, in one SQLite file of the data folder.

One process holds a journal at a time and one connection writes it. `seq` orders all changes, in all
sessions; clocks order nothing (R47).
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devui.store.app_settings import ChosenEngines, ToolEffects
from devui.store.artifacts import Artifacts
from devui.store.breakpoints import Breakpoints
from devui.store.errors import JournalError, JournalFailed
from devui.store.events import Events
from devui.store.forks import Forks
from devui.store.imports import Imports, Received
from devui.store.notes import Notes
from devui.store.runs.edits import Edits
from devui.store.runs.queued import Queued
from devui.store.runs.replays import Replays
from devui.store.runs.runs import Runs
from devui.store.runs.spans import Spans
from devui.store.runs.trials import Trials
from devui.store.search import Search
from devui.store.session_lists import SessionLists
from devui.store.sessions import Sessions
from devui.store.sqlite.database import Database, PatientDatabase, Snapshot, advance
from devui.store.sqlite.folder import DataFolder
from devui.store.sqlite.schema import Migration, SetAside, inspect, load_migrations, migrate
from devui.store.state import State
from devui.store.state_history import Histories, Uncommitted
from devui.store.totals import Totals
from devui.store.watched_keys import WatchedKeys

_ID = "SELECT id FROM journal"
_HEAD = "SELECT seq FROM journal"


class Journal:
    """Opened with `Journal.open`; also an async context manager that closes itself."""

    def __init__(
        self,
        folder: DataFolder,
        database: Database,
        clock: Callable[[], float],
        *,
        journal_id: str,
        set_aside: SetAside | None,
    ) -> None:
        self._folder = folder
        self._database = database
        self._clock = clock
        self.id = journal_id
        """Tells its sequence numbers from those of another journal, a copy of it included."""
        self._aside = set_aside
        self.sessions = Sessions(database, clock)
        self.session_lists = SessionLists(database)
        self.events = Events(database)
        self.state = State(database)
        self.histories = Histories(database)
        self.totals = Totals(database)
        self.runs = Runs(database, clock)
        self.artifacts = Artifacts(database, clock)
        self.breakpoints = Breakpoints(database)
        self.edits = Edits(database)
        self.uncommitted = Uncommitted(database)
        self.forks = Forks(database, clock)
        self.spans = Spans(database)
        self.notes = Notes(database, clock)
        self.imports = Imports(database, clock)
        self.received = Received(database, clock)
        self.replays = Replays(database)
        self.tool_effects = ToolEffects(database, clock)
        self.trials = Trials(database, clock)
        self.queued = Queued(database, clock)
        self.engines = ChosenEngines(database, clock)
        self.watched_keys = WatchedKeys(database, clock)
        self.search = Search(database)

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        clock: Callable[[], float] = time.time,
        factory: type[sqlite3.Connection] = sqlite3.Connection,
        migrations: Sequence[Migration] | None = None,
    ) -> Self:
        """Take the data folder, check its journal, bring it up to date and open it.

        Creates what is missing; sets a damaged journal aside, see `set_aside`. Raises JournalInUse,
        FolderRefused, JournalForeign, JournalNewer and other JournalErrors. `clock` gives seconds
        since the epoch; `factory` is the class of SQLite connections; `migrations` default to the
        shipped ones.
        """
        steps = load_migrations() if migrations is None else migrations
        prepare = partial(migrate, migrations=steps)
        async with AsyncExitStack() as undo:
            folder = await asyncio.to_thread(DataFolder.claim, path)
            undo.callback(folder.release)
            newest = steps[-1].version
            aside = await asyncio.to_thread(_inspect, folder.database, newest)
            database = await Database.open(folder.database, prepare, factory, newest=newest)
            undo.push_async_callback(database.close)
            [(journal_id,)] = await database.fetch(_ID)
            undo.pop_all()
        name = _instance(journal_id, folder.database)
        return cls(folder, database, clock, journal_id=name, set_aside=aside)

    @property
    def set_aside(self) -> Path | None:
        """Where a damaged journal was put when this one began in its place."""
        return self._aside and self._aside.path

    @property
    def recovered(self) -> bool:
        """Whether all that was in it is in this one."""
        return self._aside is not None and self._aside.recovered

    async def head(self) -> int:
        """Return the last seq given: everything up to it is committed and can be read."""
        [(seq,)] = await self._database.find(_HEAD)
        return int(seq)

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of one reading statement, for parts of the store that are loaded late."""
        return await self._database.fetch(sql, *parameters)

    @property
    def trouble(self) -> JournalError | None:
        """Why it takes no changes at present, one of `PASSING`; None if it does."""
        return self._database.trouble

    def on_trouble(self, callback: Callable[[JournalError | None], None] | None) -> None:
        """Call this when `trouble` turns from now on; None calls nobody."""
        self._database.on_trouble = callback

    async def probe(self) -> None:
        """Change something nobody sees, the counter; raises JournalErrors like any change."""
        await self._database.write(advance)

    def patient(self, hurry: asyncio.Event) -> "Journal":
        """The same journal, whose changes wait while it takes none, until `hurry` is set.

        Only to be used, neither watched nor closed: that is done with this one.
        """
        waiting = PatientDatabase(self._database, hurry)
        journal = Journal(
            self._folder, waiting, self._clock, journal_id=self.id, set_aside=self._aside
        )
        journal.events.on_said = self.events.on_said
        return journal

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Everything as it is now, for as long as it is read."""
        return self._database.snapshot()

    @property
    def path(self) -> Path:
        """The data folder."""
        return self._folder.path

    def announce(self, url: str, key: str) -> list[str]:
        """Tell programs of the same user where this server is, and what lets them in, if anything.

        Returns what could not be told, in words for people; the same again tells the rest.
        """
        return self._folder.announce(url, key)

    async def close(self) -> None:
        """Finish accepted changes, close the file and give the folder back; twice is harmless."""
        await self._database.close()
        self._folder.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _inspect(path: Path, newest: int) -> SetAside | None:
    try:
        return inspect(path, newest)
    except OSError as error:
        raise JournalFailed(
            f"the journal {str(path)!r} cannot be made or set aside: {error.strerror}; make its "
            "disk writable, or choose another folder with --data-dir"
        ) from error


def _instance(journal_id: str, file: Path) -> str:
    """A name for this very file: a copy has the id that was drawn for the first one (R39)."""
    text = f"{journal_id} {file.stat().st_ino} {file.resolve()}"
    return sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
