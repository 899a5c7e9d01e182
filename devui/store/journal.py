"""The journal: everything devui stores, in one SQLite file in the data folder.

Only one process at a time holds a journal, and only one connection writes to it. `seq` orders all
changes across sessions; nothing is ordered by clocks (R47).
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
from devui.store.imports import Imports, ReceivedTraces
from devui.store.notes import Notes
from devui.store.runs.edits import Edits
from devui.store.runs.queued_messages import QueuedMessages
from devui.store.runs.replays import Replays
from devui.store.runs.runs import Runs
from devui.store.runs.spans import Spans
from devui.store.runs.trials import Trials
from devui.store.search import Search
from devui.store.session_lists import SessionLists
from devui.store.sessions import Sessions
from devui.store.sqlite.database import Database, PatientDatabase, Snapshot, advance
from devui.store.sqlite.folder import DataFolder
from devui.store.sqlite.schema import Migration, ReplacedJournal, inspect, load_migrations, migrate
from devui.store.state import State
from devui.store.state_history import Histories, Uncommitted
from devui.store.tags import Tags
from devui.store.totals import Totals
from devui.store.watched_keys import WatchedKeys

_ID = "SELECT id FROM journal"
_HEAD = "SELECT seq FROM journal"


class Journal:
    """The open journal; create it with `Journal.open`. As an async context manager, it closes
    itself."""

    def __init__(
        self,
        folder: DataFolder,
        database: Database,
        clock: Callable[[], float],
        *,
        journal_id: str,
        replaced: ReplacedJournal | None,
    ) -> None:
        self._folder = folder
        self._database = database
        self._clock = clock
        self.id = journal_id
        """Identifies the file whose sequence numbers these are; a copy of it has another id."""
        self._replaced = replaced
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
        self.tags = Tags(database)
        self.imports = Imports(database, clock)
        self.received = ReceivedTraces(database, clock)
        self.replays = Replays(database)
        self.tool_effects = ToolEffects(database, clock)
        self.trials = Trials(database, clock)
        self.queued = QueuedMessages(database, clock)
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
        """Lock the data folder, then check its journal, migrate it and open it.

        Creates what is missing, and sets a damaged journal aside (see `set_aside`). `clock` returns
        seconds since the epoch; `factory` is the class of the SQLite connections; `migrations`
        default to the shipped ones. Raises JournalInUse, FolderRefused, JournalForeign,
        JournalNewer and other JournalErrors.
        """
        steps = load_migrations() if migrations is None else migrations
        prepare = partial(migrate, migrations=steps)
        async with AsyncExitStack() as undo:
            folder = await asyncio.to_thread(DataFolder.claim, path)
            undo.callback(folder.release)
            newest = steps[-1].version
            replaced = await asyncio.to_thread(_inspect, folder.database, newest)
            database = await Database.open(folder.database, prepare, factory, newest=newest)
            undo.push_async_callback(database.close)
            [(journal_id,)] = await database.fetch(_ID)
            undo.pop_all()
        name = _instance(journal_id, folder.database)
        return cls(folder, database, clock, journal_id=name, replaced=replaced)

    @property
    def set_aside(self) -> Path | None:
        """The damaged journal that this one replaced, if any."""
        return self._replaced and self._replaced.path

    @property
    def recovered(self) -> bool:
        """Whether everything was recovered from the journal that was set aside."""
        return self._replaced is not None and self._replaced.recovered

    async def head(self) -> int:
        """Return the latest seq; every change up to it is committed and readable."""
        [(seq,)] = await self._database.find(_HEAD)
        return int(seq)

    async def fetch(self, sql: str, *parameters: object) -> list[Any]:
        """Return all rows of a query, for the parts of the store that are loaded lazily."""
        return await self._database.fetch(sql, *parameters)

    @property
    def trouble(self) -> JournalError | None:
        """Why the journal currently refuses changes, one of `PASSING`; None if it accepts them."""
        return self._database.trouble

    def on_trouble(self, callback: Callable[[JournalError | None], None] | None) -> None:
        """Set the callback for changes of `trouble`; None removes it."""
        self._database.on_trouble = callback

    async def probe(self) -> None:
        """Test whether the journal accepts changes, by advancing its counter.

        Raises JournalErrors as any change does.
        """
        await self._database.write(advance)

    def patient(self, hurry: asyncio.Event) -> "Journal":
        """Return a view of the journal whose writes wait while it refuses changes, until `hurry` is
        set.

        Don't close the view or set its callbacks; do that on the journal itself.
        """
        waiting = PatientDatabase(self._database, hurry)
        journal = Journal(
            self._folder, waiting, self._clock, journal_id=self.id, replaced=self._replaced
        )
        journal.events.on_said = self.events.on_said
        return journal

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """Return a context manager for a consistent view of the journal as it is now."""
        return self._database.snapshot()

    @property
    def path(self) -> Path:
        """The data folder."""
        return self._folder.path

    def announce(self, url: str, key: str) -> list[str]:
        """Publish this server's address and access key, if any, to the same user's programs.

        Returns messages for the user about what failed; call it again to retry that.
        """
        return self._folder.announce(url, key)

    async def close(self) -> None:
        """Finish accepted changes, close the file and release the folder.

        Closing it again does nothing.
        """
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


def _inspect(path: Path, newest: int) -> ReplacedJournal | None:
    try:
        return inspect(path, newest)
    except OSError as error:
        raise JournalFailed(
            f"the journal {str(path)!r} cannot be made or set aside: {error.strerror}; make its "
            "disk writable, or choose another folder with --data-dir"
        ) from error


def _instance(journal_id: str, file: Path) -> str:
    """Return an id of this particular file; the stored id is also in each copy of it (R39)."""
    text = f"{journal_id} {file.stat().st_ino} {file.resolve()}"
    return sha256(text.encode(errors="surrogateescape")).hexdigest()[:16]
