"""The workers: one child process per app, started on first use and replaced when its code changes.

A change of files starts a *new* child; runs that are under way finish on the code they began with,
and a version that does not import leaves the last good one in place (R57).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from watchfiles import Change, DefaultFilter, awatch

from devui.debugger.apps import AppFolder
from devui.debugger.bus import Bus
from devui.debugger.news import APPS, AppChanged, News
from devui.debugger.printed import Printed
from devui.debugger.process import HASTY, WorkerProcess
from devui.debugger.tasks import Tasks
from devui.wire.messages import (
    AgentError,
    AppFailed,
    AppInfo,
    AppLoaded,
    Output,
    ToServer,
    ToWorker,
)

logger = logging.getLogger("devui.workers")

SECONDS_TO_LOAD = 60.0
"""How long an app may take to import."""

Status = Literal["unused", "loading", "ready", "broken"]


class AppBroken(Exception):
    """The app cannot be run because its code does not load."""

    def __init__(self, error: AgentError) -> None:
        place = f" ({error.file}:{error.line})" if error.file and error.line else ""
        super().__init__(f"{error.type}: {error.message}{place}")
        self.error = error


@dataclass(eq=False, slots=True)
class Worker:
    """A child process and what is known of it."""

    app: str
    process: WorkerProcess
    loaded: asyncio.Future[AppInfo]
    runs: set[str] = field(default_factory=set)
    """Those under way."""
    has_run: bool = False
    """Whether any has begun."""
    retired: bool = False
    """No new runs, for good: its code is outdated or a thread of it is stuck."""
    printed: Printed = field(default_factory=Printed)
    """What its app said while it was imported."""
    blocked: bool = False
    """Its event loop does not turn, so a new run would not begin."""

    @property
    def importing(self) -> bool:
        """Whether what it says is said by the import of its app: that is under way, or failed."""
        return not self.loaded.done() or self.loaded.exception() is not None

    def take(self, run: str) -> None:
        """Note that a run begins."""
        self.runs.add(run)
        self.has_run = True

    async def send(self, message: ToWorker) -> None:
        """Send a message to the process."""
        await self.process.send(message)

    async def end(self) -> None:
        """End the process soon: in order, or at once while it is still importing the app."""
        if self.loaded.done():
            await self.process.stop(HASTY)
        else:
            self.process.kill()


@dataclass(eq=False, slots=True)
class _App:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    current: Worker | None = None
    error: AgentError | None = None
    printed: Printed = field(default_factory=Printed)
    """By the newest import, whether it failed or not."""
    loading: bool = False
    tried: bool = False
    stale: bool = False
    """Its files changed after its code was last read."""
    refreshing: bool = False
    """A task sees to it that its code is read anew."""


@dataclass(frozen=True, slots=True)
class AppStatus:
    """What can be said of an app without asking its process."""

    name: str
    status: Status
    info: AppInfo | None
    error: AgentError | None
    """Why the newest version does not load; runs may still go on with an older one."""
    printed: Printed
    """What the newest import said."""


Deliver = Callable[[Worker, ToServer], Awaitable[None]]
Overhear = Callable[[Worker, str], None]
Gone = Callable[[Worker, int], Awaitable[None]]


class Workers:
    """All workers of the server; an async context manager that ends them."""

    def __init__(self, folder: AppFolder, bus: Bus[News]) -> None:
        self.folder = folder
        self._bus = bus
        self._apps: dict[str, _App] = {}
        self._all: set[Worker] = set()
        self._ends: dict[Worker, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._leaving = asyncio.Event()

    def connect(self, deliver: Deliver, overhear: Overhear, gone: Gone) -> None:
        """Say who takes the workers' messages, their raw output, and the news of their end."""
        self._deliver, self._overhear, self._gone = deliver, overhear, gone

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._tasks.start(self._watch_files(), "watching the agents' files")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()
        await asyncio.gather(*self._ends.values())
        await self._tasks.__aexit__(kind, error, trace)

    def leave(self) -> None:
        """Begin to end all workers, and start none any more; the exit waits until they are gone."""
        self._leaving.set()
        for worker in self._all - self._ends.keys():
            name = f"ending worker {worker.process.pid}"
            self._ends[worker] = self._tasks.start(worker.end(), name)

    # --- what pages ask --------------------------------------------------------------------

    def groups(self) -> dict[int, str]:
        """The apps by the process groups that their code runs in."""
        return {worker.process.pid: worker.app for worker in self._all}

    def status(self, name: str) -> AppStatus:
        """The state of an app by name; raises UnknownApp."""
        self.folder.require(name)
        app = self._apps.get(name, _App())
        ready = app.current is not None
        status: Status = "unused"
        if ready:
            status = "ready"
        elif app.loading:
            status = "loading"
        elif app.error is not None:
            status = "broken"
        info = app.current.loaded.result() if app.current is not None else None
        return AppStatus(name, status, info, app.error, app.printed)

    def warm(self, name: str) -> None:
        """Load an app that was not tried yet, in the background."""
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        if not app.tried:
            app.tried = True
            self._renew(name, app)

    async def reload(self, name: str) -> AppStatus:
        """Load the app's code anew, and return what came of it."""
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        async with app.lock:
            await self._load(name, app)
        return self.status(name)

    async def worker(self, name: str) -> Worker:
        """A worker that can take a run; raises UnknownApp and AppBroken."""
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        async with app.lock:
            if app.current is None or app.current.retired or app.current.blocked:
                await self._load(name, app)
            if app.current is None:
                raise AppBroken(app.error or _gone_while_loading(""))
            return app.current

    def release(self, worker: Worker, run: str, *, stuck: bool) -> None:
        """A run of the worker is over; one with a stuck thread takes no more runs."""
        worker.runs.discard(run)
        if stuck or worker.retired:
            self._retire(worker)

    # --- loading ---------------------------------------------------------------------------

    def _renew(self, name: str, app: _App) -> None:
        """Read the app's code anew, however often it changes meanwhile (R57)."""
        app.stale = True
        if not app.refreshing:
            app.refreshing = True
            self._tasks.start(self._refresh(name, app), f"loading {name}")

    async def _refresh(self, name: str, app: _App) -> None:
        try:
            while app.stale and not self._leaving.is_set():
                async with app.lock:
                    await self._load(name, app)
        finally:
            app.refreshing = False

    async def _load(self, name: str, app: _App) -> None:
        app.tried = app.loading = True
        app.stale = False
        self._bus.publish(APPS, AppChanged(name))
        try:
            worker = await self._spawn(name, app)
            if app.current is not None:
                self._retire(app.current)
            app.current, app.error = worker, None
        except AppBroken as broken:
            app.error = broken.error
        finally:
            app.loading = False
            if app.current is not None and self._apps.get(name) is not app:
                self._retire(app.current)  # its folder went away while it was being loaded
            if app.current is not None and app.current.retired:
                app.current = None
            self._bus.publish(APPS, AppChanged(name, app.error))

    async def _spawn(self, name: str, app: _App) -> Worker:
        """A worker that has imported the app; raises AppBroken."""
        if self._leaving.is_set():
            raise AppBroken(_not_started("devui is being stopped"))
        try:
            process = await WorkerProcess.start(self.folder.path, name)
        except OSError as error:
            raise AppBroken(_refused(error)) from error
        worker = Worker(name, process, asyncio.get_running_loop().create_future())
        self._all.add(worker)
        app.printed = worker.printed
        self._tasks.start(self._listen(worker), f"worker {process.pid} of {name}")
        if self._leaving.is_set():  # it came too late to be ended with the others
            process.kill()
        try:
            await asyncio.wait_for(asyncio.shield(worker.loaded), SECONDS_TO_LOAD)
        except TimeoutError:
            process.kill()
            raise AppBroken(_too_slow(name)) from None
        return worker

    def _retire(self, worker: Worker) -> None:
        """No new runs for it; the last of its runs is the end of it."""
        worker.retired = True
        if not worker.runs:
            self._tasks.start(worker.process.stop(), f"stopping worker {worker.process.pid}")

    async def _listen(self, worker: Worker) -> None:
        async def receive(message: ToServer) -> None:
            try:
                await self._receive(worker, message)
            except Exception:
                logger.exception("worker %s said what cannot be taken", worker.process.pid)
                worker.process.kill()

        def overhear(text: str) -> None:
            # What children of the import say may come after the word that it has ended.
            if worker.importing or not worker.has_run:
                worker.printed.overhear(text)
            else:
                self._overhear(worker, text)

        status = await worker.process.listen(receive, overhear)
        self._all.discard(worker)
        if not worker.loaded.done():
            error = _gone_while_loading(worker.process.last_words)
            worker.loaded.set_exception(AppBroken(error))
        worker.loaded.exception()  # looked at: nobody may be waiting for it
        app = self._apps.get(worker.app)
        if app is not None and app.current is worker:
            app.current = None
            self._bus.publish(APPS, AppChanged(worker.app))
        await self._gone(worker, status)

    async def _receive(self, worker: Worker, message: ToServer) -> None:
        if isinstance(message, AppLoaded):
            worker.loaded.set_result(message.info)
        elif isinstance(message, AppFailed):
            worker.loaded.set_exception(AppBroken(message.error))
        elif isinstance(message, Output) and worker.importing:
            worker.printed.take(message)
        else:
            await self._deliver(worker, message)

    # --- files -----------------------------------------------------------------------------

    async def _watch_files(self) -> None:
        if not self.folder.path.is_dir():
            return
        changes = awatch(
            self.folder.path,
            watch_filter=_AgentFiles(self.folder.path),
            stop_event=self._leaving,
            recursive=True,
        )
        async for batch in changes:
            names = set(self.folder.names())
            for name in sorted(self._touched(batch)):
                self._changed(name, exists=name in names)

    def _changed(self, name: str, *, exists: bool) -> None:
        app = self._apps.get(name)
        if app is not None and not exists:
            del self._apps[name]
            if app.current is not None:
                self._retire(app.current)
        if app is not None and app.tried and exists:
            logger.info("the files of %s changed: loading it anew", name)
            self._renew(name, app)
        else:
            self._bus.publish(APPS, AppChanged(name))

    def _touched(self, batch: set[tuple[Change, str]]) -> set[str]:
        root = self.folder.path
        paths = (Path(path) for _, path in batch)
        return {path.relative_to(root).parts[0] for path in paths if path.is_relative_to(root)}


class _AgentFiles(DefaultFilter):
    """What an agent's behaviour may depend on; not data folders, caches or editors' files."""

    endings = (".py", ".yaml", ".yml", ".env", ".json", ".md", ".txt", ".toml")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self._root = root

    def __call__(self, change: Change, path: str) -> bool:
        name = Path(path).name
        # Of a folder that gets another name nothing else is told.
        is_app = Path(path).parent == self._root and not name.startswith(".")
        counts = is_app or name.endswith(self.endings) or name == ".env"
        return counts and "/.devui/" not in path and super().__call__(change, path)


def _too_slow(name: str) -> AgentError:
    return AgentError(
        type="LoadTimeout",
        message=f"{name} was still being imported after {SECONDS_TO_LOAD:.0f} s and was ended; "
        "move slow work out of the module level of agent.py",
        traceback="",
    )


def _not_started(message: str) -> AgentError:
    return AgentError(type="WorkerNotStarted", message=message, traceback="")


def _refused(error: OSError) -> AgentError:
    return _not_started(
        f"the system refuses devui a new process: {error.strerror or error}. Close sessions and "
        "programs that are not needed, or start devui with higher limits (ulimit -n, ulimit -u); "
        "the next message tries again"
    )


def _gone_while_loading(last_words: str) -> AgentError:
    return AgentError(
        type="WorkerDied",
        message="the process that imports the app ended before it was done",
        traceback=last_words,
    )
