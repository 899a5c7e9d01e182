"""The workers: one child process per app, started on first use and replaced when its code changes.

A change of files starts a *new* child; runs that are under way finish on the code they began with,
and a version that does not import leaves the last good one in place (R57).
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

from watchfiles import watch

from devui.debugger.apps.agent_files import AgentFiles, Version, touched_apps
from devui.debugger.apps.apps import AppFolder
from devui.debugger.apps.engines import Engines
from devui.debugger.background.tasks import Tasks
from devui.debugger.events.bus import Bus
from devui.debugger.events.news import APPS, AppChanged, News
from devui.debugger.workers.hosted import HostedWorker
from devui.debugger.workers.import_output import Printed
from devui.debugger.workers.interpreter import WrongPython
from devui.debugger.workers.process import HASTY, WorkerProcess
from devui.settings import WorkerLimits
from devui.wire.engines import EngineChoice, EngineName, ReplayEngine
from devui.wire.errors import AgentError
from devui.wire.messages import (
    AppFailed,
    AppInfo,
    AppLoaded,
    Debugger,
    EditorAwaited,
    Output,
    ToServer,
    ToWorker,
)

logger = logging.getLogger("devui.workers")

_SECONDS_TO_SPARE = 1.0
"""Between the use of a spare worker, or the start of the server, and the start of the next one."""
SECONDS_TO_LOAD = 60.0
"""How long an app may take to import."""

_NOT_STARTED = "WorkerNotStarted"
"""The type of an error that says nothing of the code: the next try may succeed."""

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
    process: WorkerProcess | HostedWorker
    info: asyncio.Future[AppInfo]
    runs: set[str] = field(default_factory=set)
    """Those under way."""
    has_run: bool = False
    """Whether any has begun."""
    retired: bool = False
    """No new runs, for good: its code is outdated or a thread of it is stuck."""
    printed: Printed = field(default_factory=Printed)
    """What its app said while it was imported."""
    last_use: float = 0.0
    """When it was last used, by the loop's clock."""
    blocked: bool = False
    """Its event loop does not turn, so a new run would not begin."""
    debugger: Debugger | None = None
    """The debugger of Python that has stopped its code."""
    awaited: int | None = None
    """The port at which it waits for an editor before it imports the app."""

    @property
    def importing(self) -> bool:
        """Whether what it says is said by the import of its app: that is under way, or failed."""
        return not self.info.done() or self.info.exception() is not None

    @property
    def ending(self) -> bool:
        """Whether it is being stopped."""
        return self.retired and not self.runs

    def use(self) -> None:
        """Note that it is used now."""
        self.last_use = asyncio.get_running_loop().time()

    def take(self, run: str) -> None:
        """Note that a run begins."""
        self.runs.add(run)
        self.has_run = True

    async def send(self, message: ToWorker) -> None:
        """Send a message to the process."""
        await self.process.send(message)

    async def end(self) -> None:
        """End the process soon: in order, or at once while it is still importing the app."""
        if self.info.done():
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
    version: Version | None = None
    """Its files when its code was last read; None if nobody looked."""
    read_by_run: bool = False
    """A run had it read anew, before the watcher reported the change."""
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
    choice: EngineChoice | None
    """The engine that a person chose for it."""
    debug_port: int | None = None
    """Where its process listens for an editor's debugger."""
    awaited: int | None = None
    """The same while the app isn't imported before an editor attaches."""
    reloads: bool = True
    """Its code can be read anew; not that of an object in another process."""


Deliver = Callable[[Worker, ToServer], Awaitable[None]]
Overhear = Callable[[Worker, str], None]
OnEnd = Callable[[Worker, int], Awaitable[None]]


class Workers:
    """All workers of the server; an async context manager that ends them."""

    def __init__(
        self, folder: AppFolder, bus: Bus[News], engines: Engines, limits: WorkerLimits
    ) -> None:
        self.folder = folder
        self._files = AgentFiles(folder.path)
        self.engines = engines
        self._limits = limits
        self._stirred = asyncio.Event()
        """A worker may have become idle."""
        self._bus = bus
        self._apps: dict[str, _App] = {}
        self._all: set[Worker] = set()
        self._ends: dict[Worker, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._leaving = asyncio.Event()

    def connect(self, deliver: Deliver, overhear: Overhear, on_end: OnEnd) -> None:
        """Say who takes the workers' messages, their raw output, and the news of their end."""
        self._deliver, self._overhear, self._on_end = deliver, overhear, on_end

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._tasks.start(self._watch_files(), "watching the agents' files")
        self._tasks.start(self._end_idle(), "ending idle workers")
        self._tasks.start(self._start_spare(None), "starting a spare worker")
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
        self._stirred.set()
        self._tasks.start(self.engines.end_spare(), "ending the spare worker")
        for worker in self._all - self._ends.keys():
            name = f"ending worker {worker.process.pid}"
            self._ends[worker] = self._tasks.start(worker.end(), name)

    # --- what pages ask --------------------------------------------------------------------

    def groups(self) -> dict[int, str]:
        """The apps by the process groups that their code runs in."""
        groups = ((worker.process.group, worker.app) for worker in self._all)
        return {group: app for group, app in groups if group is not None}

    def status(self, name: str) -> AppStatus:
        """The state of an app by name; raises UnknownApp."""
        self.folder.require(name)
        app = self._apps.get(name, _App())
        status: Status = "unused"
        if app.current is not None:
            status = "ready"
        elif app.loading:
            status = "loading"
        elif app.error is not None:
            status = "broken"
        info = app.current.info.result() if app.current is not None else None
        choice = self.engines.choice(name)
        port = self.engines.debug_port(name)
        reloads = not self.folder.objects or app.error is not None
        awaited = self.awaited(name)
        return AppStatus(name, status, info, app.error, app.printed, choice, port, awaited, reloads)

    def awaited(self, name: str) -> int | None:
        """The port at which an app waits for an editor before it is imported."""
        ports = (each.awaited for each in self._all if each.app == name and not each.info.done())
        return next((port for port in ports if port is not None), None)

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
        """A worker that can take a run, with the code as it is saved now.

        Raises UnknownApp and AppBroken.
        """
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        async with app.lock:
            worker = app.current
            # The watcher reports a change 0.1 s late; a coding agent may send a message sooner.
            is_outdated = self._is_outdated(name, app)
            if worker is None or worker.retired or worker.blocked or is_outdated:
                app.read_by_run = is_outdated
                await self._load(name, app)
            if app.current is None:
                raise AppBroken(app.error or _gone_while_loading(""))
            app.current.use()
            return app.current

    async def aside(self, name: str, engine: ReplayEngine) -> Worker:
        """A worker for one run alone, on an engine that need not be the app's.

        Raises UnknownApp and AppBroken, also when the engine cannot run the app.
        """
        if engine == "other":
            info = (await self.worker(name)).info.result()
            is_adk = info.engine is not None and info.engine.name == "google-adk"
            engine = "devui" if is_adk else "google-adk"
        self.folder.require(name)
        worker = await self._spawn(name, _App(), engine)
        worker.retired = True
        return worker

    def release(self, worker: Worker, run: str, *, stuck: bool) -> None:
        """A run of the worker is over; one with a stuck thread takes no more runs."""
        worker.runs.discard(run)
        worker.use()
        self._stirred.set()
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
        app.version = None if self.folder.objects else self._files.version(name)
        self._bus.publish(APPS, AppChanged(name))
        try:
            await self._free_port(name, app)
            worker = await self._spawn(name, app)
            if app.current is not None:
                self._retire(app.current)
            app.current, app.error = worker, None
        except AppBroken as error:
            app.error = error.error
            if error.error.type == _NOT_STARTED and app.version is not None:
                app.version = frozenset()  # so that the next run tries again
        finally:
            app.loading = False
            self._stirred.set()
            if app.current is not None and self._apps.get(name) is not app:
                self._retire(app.current)  # its folder went away while it was being loaded
            if app.current is not None and app.current.retired:
                app.current = None
            self._bus.publish(APPS, AppChanged(name, app.error))

    async def _free_port(self, name: str, app: _App) -> None:
        """Two processes can't listen on one port: end the app's present one, unless it has runs."""
        worker = app.current
        if self.engines.debug_port(name) is not None and worker is not None and not worker.runs:
            worker.retired = True
            app.current = None
            await worker.process.stop()

    async def _spawn(self, name: str, app: _App, engine: EngineName | None = None) -> Worker:
        """A worker that has imported the app; raises AppBroken."""
        if self._leaving.is_set():
            raise AppBroken(_not_started("devui is being stopped"))
        self._end_unused(coming=1)
        try:
            process = await self.engines.start(self.folder.path, name, engine)
        except WrongPython as error:
            raise AppBroken(_not_started(str(error))) from error
        except OSError as error:
            raise AppBroken(_not_spawned(error)) from error
        logger.info("worker %s: loading %s", process.pid, name)
        worker = Worker(name, process, asyncio.get_running_loop().create_future())
        self._tasks.start(self._start_spare(worker), "starting a spare worker")
        worker.use()
        self._all.add(worker)
        app.printed = worker.printed
        self._tasks.start(self._listen(worker), f"worker {process.pid} of {name}")
        if self._leaving.is_set():  # it came too late to be ended with the others
            process.kill()
        # A person may attach a debugger first, and step through the import.
        debugged = engine is None and self.engines.debug_port(name) is not None
        try:
            seconds = None if debugged else SECONDS_TO_LOAD
            await asyncio.wait_for(asyncio.shield(worker.info), seconds)
        except TimeoutError:
            process.kill()
            raise AppBroken(_too_slow(name)) from None
        return worker

    def _retire(self, worker: Worker) -> None:
        """No new runs for it; the last of its runs is the end of it."""
        worker.retired = True
        if not worker.runs:
            self._tasks.start(worker.process.stop(), f"stopping worker {worker.process.pid}")

    async def _start_spare(self, like: Worker | None) -> None:
        """Have a process ready for the next app, on this worker's engine if it has loaded."""
        with contextlib.suppress(TimeoutError):  # leave the processor to what begins now
            await asyncio.wait_for(self._leaving.wait(), _SECONDS_TO_SPARE)
        info = None
        if like is not None and like.info.done() and like.info.exception() is None:
            info = like.info.result()
        if not self._leaving.is_set():
            await self.engines.start_spare(info.engine.name if info and info.engine else None)
        if self._leaving.is_set():
            await self.engines.end_spare()

    # --- idle workers ----------------------------------------------------------------------

    async def _end_idle(self) -> None:
        while not self._leaving.is_set():
            self._stirred.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._end_unused()):
                    await self._stirred.wait()

    def _end_unused(self, coming: int = 0) -> float | None:
        """End what was not used for long, and the least recently used of too many.

        A worker with a run, held or not, or a trial is in use. `coming` are about to be started.
        Returns the seconds until another one will have been idle for long; None if none will.
        """
        now, patience = asyncio.get_running_loop().time(), 60 * self._limits.idle_minutes
        alive = sum(not worker.ending for worker in self._all) + coming
        next_end = None
        for worker in sorted(self._idle(), key=lambda worker: worker.last_use):
            remaining = worker.last_use + patience - now
            if alive > self._limits.most or (patience and remaining <= 0):
                self._dismiss(worker)
                alive -= 1
            elif patience and next_end is None:
                next_end = remaining
        return next_end

    def _idle(self) -> list[Worker]:
        """Workers that nobody uses; not the last good one of an app that is being read anew."""
        current = (app.current for app in self._apps.values() if not app.loading)
        return [worker for worker in current if worker is not None and not worker.runs]

    def _dismiss(self, worker: Worker) -> None:
        """End an idle worker; the next use of its app starts one as the first use did."""
        app = self._apps[worker.app]
        app.current, app.tried = None, False
        self._retire(worker)
        if not any(each.current or each.loading for each in self._apps.values()):
            self._tasks.start(self.engines.end_spare(), "ending the spare worker")
        logger.info("ended the idle worker %s of %s", worker.process.pid, worker.app)
        self._bus.publish(APPS, AppChanged(worker.app))

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
        if not worker.info.done():
            error = _gone_while_loading(worker.process.last_words)
            worker.info.set_exception(AppBroken(error))
        worker.info.exception()  # looked at: nobody may be waiting for it
        app = self._apps.get(worker.app)
        if app is not None and app.current is worker:
            app.current = None
            self._bus.publish(APPS, AppChanged(worker.app))
        await self._on_end(worker, status)

    async def _receive(self, worker: Worker, message: ToServer) -> None:
        if isinstance(message, AppLoaded):
            worker.info.set_result(message.info)
        elif isinstance(message, AppFailed):
            worker.info.set_exception(AppBroken(message.error))
        elif isinstance(message, Output) and worker.importing:
            worker.printed.take(message)
        elif isinstance(message, EditorAwaited):
            worker.awaited = message.port
            self._bus.publish(APPS, AppChanged(worker.app))
            await self._deliver(worker, message)
        else:
            await self._deliver(worker, message)

    # --- files -----------------------------------------------------------------------------

    async def _watch_files(self) -> None:
        if self.folder.objects or not self.folder.path.is_dir():
            return  # objects do not change with the files that they came from
        # Not `awatch`, which imports anyio's event loop before the first request is answered.
        changes = watch(self.folder.path, watch_filter=self._files, stop_event=self._leaving)
        while batch := await asyncio.to_thread(next, changes, None):
            names = set(self.folder.names())
            for name in sorted(touched_apps(batch, self.folder.path, names | self._apps.keys())):
                self._on_change(name, exists=name in names)

    def _is_outdated(self, name: str, app: _App) -> bool:
        """Whether the disk has another version than the one that was read, as far as is known."""
        return app.version is not None and app.version != self._files.version(name)

    def _on_change(self, name: str, *, exists: bool) -> None:
        app = self._apps.get(name)
        if app is not None and not exists:
            del self._apps[name]
            if app.current is not None:
                self._retire(app.current)
        if app is not None and app.tried and exists:
            if app.read_by_run and not self._is_outdated(name, app):
                app.read_by_run = False
                return  # a run was quicker than the watcher
            logger.info("the files of %s changed: loading it anew", name)
            self._renew(name, app)
        else:
            self._bus.publish(APPS, AppChanged(name))


def _too_slow(name: str) -> AgentError:
    return AgentError(
        type="LoadTimeout",
        message=f"importing {name} took longer than {SECONDS_TO_LOAD:.0f} s and was stopped; "
        "move slow work out of the module level of agent.py",
        traceback="",
    )


def _not_started(message: str) -> AgentError:
    return AgentError(type=_NOT_STARTED, message=message, traceback="")


def _not_spawned(error: OSError) -> AgentError:
    return _not_started(
        f"the system can't start another process: {error.strerror or error}. Close sessions and "
        "programs you don't need, or start devui with higher limits (ulimit -n, ulimit -u); "
        "the next message tries again"
    )


def _gone_while_loading(last_words: str) -> AgentError:
    return AgentError(
        type="WorkerDied",
        message="the process ended while it was importing the app",
        traceback=last_words,
    )
