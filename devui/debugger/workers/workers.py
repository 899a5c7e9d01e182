"""The workers: one child process per app, started on first use and replaced when its code changes.

A change of files starts a *new* child; active runs finish on the code they began with, and a
version that doesn't import leaves the last good one in place (R57).
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
from devui.debugger.workers.import_output import ImportOutput
from devui.debugger.workers.process import HASTY, WorkerProcess
from devui.interpreter import WrongPython
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
"""Delay before the next spare worker starts, after one was used or the server started."""
SECONDS_TO_LOAD = 60.0
"""How long an app may take to import, in seconds."""

_NOT_STARTED = "WorkerNotStarted"
"""An error type that says nothing about the app's code: the next attempt may succeed."""

Status = Literal["unused", "loading", "ready", "broken"]


class AppBroken(Exception):
    """The app can't run because its code doesn't load."""

    def __init__(self, error: AgentError, environment: str = "") -> None:
        line = f":{error.line}" if error.line else ""
        place = f" ({error.file}{line})" if error.file else ""
        super().__init__(f"{error.type}: {error.message}{place}")
        self.error = error
        self.environment = environment
        """The engine and Python of the failed import, for display; "" if it failed before that."""


@dataclass(eq=False, slots=True)
class Worker:
    """A child process and its state."""

    app: str
    process: WorkerProcess | HostedWorker
    info: asyncio.Future[AppInfo]
    runs: set[str] = field(default_factory=set)
    """The ids of its active runs and trials."""
    has_run: bool = False
    """Whether any run or trial has begun."""
    is_retired: bool = False
    """Whether it takes no more runs: its code is outdated, or one of its threads is stuck."""
    import_output: ImportOutput = field(default_factory=ImportOutput)
    """The output of its app's import."""
    last_use: float = 0.0
    """When it was last used, in seconds of the loop's clock."""
    blocked: bool = False
    """Whether its event loop is blocked, so that a new run wouldn't start."""
    debugger: Debugger | None = None
    """The Python debugger that has stopped its code, if any."""
    editor_port: int | None = None
    """The port on which it waits for an editor before it imports the app, if it does."""

    @property
    def importing(self) -> bool:
        """Whether its output comes from the import of its app, which is active or failed."""
        return not self.info.done() or self.info.exception() is not None

    @property
    def ending(self) -> bool:
        """Whether it is about to stop: retired, without active runs."""
        return self.is_retired and not self.runs

    def use(self) -> None:
        """Record that it is in use now."""
        self.last_use = asyncio.get_running_loop().time()

    def take(self, run: str) -> None:
        """Record that a run or trial begins."""
        self.runs.add(run)
        self.has_run = True

    async def send(self, message: ToWorker) -> None:
        await self.process.send(message)

    async def end(self) -> None:
        """End the process: gracefully but quickly, or at once while it is importing the app."""
        if self.info.done():
            await self.process.stop(HASTY)
        else:
            self.process.kill()


@dataclass(eq=False, slots=True)
class _App:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    current: Worker | None = None
    error: AgentError | None = None
    environment: str = ""
    """The engine and Python of the failed import; see `AppBroken`."""
    import_output: ImportOutput = field(default_factory=ImportOutput)
    """The output of the newest import, failed or not."""
    loading: bool = False
    was_tried: bool = False
    stale: bool = False
    """Whether its files changed after its code was last loaded."""
    version: Version | None = None
    """Its files when its code was last loaded; None if unknown."""
    loads: int = 0
    """How many times its code was loaded."""
    read_by_run: bool = False
    """Whether a run reloaded it before the watcher reported the change."""
    refreshing: bool = False
    """Whether a task is reloading its code."""


@dataclass(frozen=True, slots=True)
class AppStatus:
    """The status of an app, as known without asking its process."""

    name: str
    status: Status
    info: AppInfo | None
    error: AgentError | None
    """Why the newest version doesn't load; an older one may still be running."""
    environment: str
    """The engine and Python of the failed import; "" if unknown."""
    import_output: ImportOutput
    """The output of the newest import."""
    choice: EngineChoice | None
    """The engine that a person chose for it, if any."""
    debug_port: int | None = None
    """The port on which its process listens for an editor's debugger, if any."""
    editor_port: int | None = None
    """The port on which it waits for an editor before it imports the app, if it does."""
    reloads: bool = True
    """Whether its code can be reloaded; that of an object in another process can't."""
    loads: int = 0
    """How many times its code was loaded; a higher number means that `info` is new."""


Deliver = Callable[[Worker, ToServer], Awaitable[None]]
OnOutput = Callable[[Worker, str], None]
OnEnd = Callable[[Worker, int], Awaitable[None]]


class Workers:
    """All workers of the server; as an async context manager, it ends them on exit."""

    def __init__(
        self, folder: AppFolder, bus: Bus[News], engines: Engines, limits: WorkerLimits
    ) -> None:
        self.folder = folder
        self._files = AgentFiles(folder.path)
        self.engines = engines
        self._limits = limits
        self._stirred = asyncio.Event()
        """Set when a worker may have become idle."""
        self._bus = bus
        self._apps: dict[str, _App] = {}
        self._all: set[Worker] = set()
        self._ends: dict[Worker, asyncio.Task[None]] = {}
        self._tasks = Tasks()
        self._leaving = asyncio.Event()

    def connect(self, deliver: Deliver, on_output: OnOutput, on_end: OnEnd) -> None:
        """Set the callbacks for the workers' messages, raw output and exits."""
        self._deliver, self._on_output, self._on_end = deliver, on_output, on_end

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
        """Start ending all workers, and start no more; `__aexit__` waits until they are gone."""
        self._leaving.set()
        self._stirred.set()
        self._tasks.start(self.engines.end_spare(), "ending the spare worker")
        for worker in self._all - self._ends.keys():
            name = f"ending worker {worker.process.pid}"
            self._ends[worker] = self._tasks.start(worker.end(), name)

    # --- what pages ask --------------------------------------------------------------------

    def groups(self) -> dict[int, str]:
        """Map the process groups of the workers to their apps."""
        groups = ((worker.process.group, worker.app) for worker in self._all)
        return {group: app for group, app in groups if group is not None}

    def status(self, name: str) -> AppStatus:
        """Return the status of an app; raises UnknownApp."""
        self.folder.require(name)
        app = self._apps.get(name, _App())
        status: Status = "unused"
        if app.current is not None:
            status = "ready"
        elif app.loading:
            status = "loading"
        elif app.error is not None:
            status = "broken"
        return AppStatus(
            name=name,
            status=status,
            info=app.current.info.result() if app.current is not None else None,
            error=app.error,
            environment=app.environment,
            import_output=app.import_output,
            choice=self.engines.choice(name),
            debug_port=self.engines.debug_port(name),
            editor_port=self.editor_port(name),
            reloads=not self.folder.objects or app.error is not None,
            loads=app.loads,
        )

    def editor_port(self, name: str) -> int | None:
        """Return the port on which an app waits for an editor before its import, if it does."""
        ports = (
            each.editor_port for each in self._all if each.app == name and not each.info.done()
        )
        return next((port for port in ports if port is not None), None)

    def warm(self, name: str) -> None:
        """Load an app in the background, unless that was already tried."""
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        if not app.was_tried:
            app.was_tried = True
            self._renew(name, app)

    async def reload(self, name: str) -> AppStatus:
        """Reload the app's code, and return the outcome."""
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        async with app.lock:
            await self._load(name, app)
        return self.status(name)

    async def worker(self, name: str) -> Worker:
        """Return a worker that can take a run, with the code as saved now.

        Raises UnknownApp and AppBroken.
        """
        self.folder.require(name)
        app = self._apps.setdefault(name, _App())
        async with app.lock:
            worker = app.current
            # The watcher reports a change 0.1 s late; a coding agent may send a message sooner.
            is_outdated = self._is_outdated(name, app)
            if worker is None or worker.is_retired or worker.blocked or is_outdated:
                app.read_by_run = is_outdated
                await self._load(name, app)
            if app.current is None:
                raise AppBroken(app.error or _gone_while_loading(""), app.environment)
            app.current.use()
            return app.current

    async def aside(self, name: str, engine: ReplayEngine) -> Worker:
        """Start a worker for a single run, on an engine that may differ from the app's.

        Raises UnknownApp, and AppBroken also if the engine can't run the app.
        """
        if engine == "other":
            info = (await self.worker(name)).info.result()
            is_adk = info.engine is not None and info.engine.name == "google-adk"
            engine = "devui" if is_adk else "google-adk"
        self.folder.require(name)
        worker = await self._spawn(name, _App(), engine)
        worker.is_retired = True
        return worker

    def release(self, worker: Worker, run: str, *, stuck: bool) -> None:
        """Record that a run or trial is over; a worker with a stuck thread takes no more runs."""
        worker.runs.discard(run)
        worker.use()
        self._stirred.set()
        if stuck or worker.is_retired:
            self._retire(worker)

    # --- loading ---------------------------------------------------------------------------

    def _renew(self, name: str, app: _App) -> None:
        """Reload the app's code, and again if it changes in the meantime (R57)."""
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
        app.was_tried = app.loading = True
        app.stale = False
        app.version = None if self.folder.objects else self._files.version(name)
        self._bus.publish(APPS, AppChanged(name))
        try:
            await self._free_port(name, app)
            worker = await self._spawn(name, app)
            if app.current is not None:
                self._retire(app.current)
            app.current, app.error = worker, None
            app.loads += 1
        except AppBroken as error:
            app.error, app.environment = error.error, error.environment
            if error.error.type == _NOT_STARTED and app.version is not None:
                app.version = frozenset()  # so that the next run tries again
        finally:
            app.loading = False
            self._stirred.set()
            if app.current is not None and self._apps.get(name) is not app:
                self._retire(app.current)  # its folder was deleted during the load
            if app.current is not None and app.current.is_retired:
                app.current = None
            self._bus.publish(APPS, AppChanged(name, app.error))

    async def _free_port(self, name: str, app: _App) -> None:
        """End the app's current process unless it has runs: two can't listen on the same port."""
        worker = app.current
        if self.engines.debug_port(name) is not None and worker is not None and not worker.runs:
            worker.is_retired = True
            app.current = None
            await worker.process.stop()

    async def _spawn(self, name: str, app: _App, engine: EngineName | None = None) -> Worker:
        """Start a worker and wait until it has imported the app; raises AppBroken."""
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
        app.import_output = worker.import_output
        self._tasks.start(self._listen(worker), f"worker {process.pid} of {name}")
        if self._leaving.is_set():  # it started too late for `leave` to end it
            process.kill()
        # No timeout: a person may attach a debugger first, and step through the import.
        debugged = engine is None and self.engines.debug_port(name) is not None
        try:
            seconds = None if debugged else SECONDS_TO_LOAD
            await asyncio.wait_for(asyncio.shield(worker.info), seconds)
        except TimeoutError:
            process.kill()
            raise AppBroken(_too_slow(name)) from None
        return worker

    def _retire(self, worker: Worker) -> None:
        """Give the worker no new runs, and stop it after its last one."""
        worker.is_retired = True
        if not worker.runs:
            self._tasks.start(worker.process.stop(), f"stopping worker {worker.process.pid}")

    async def _start_spare(self, like: Worker | None) -> None:
        """Start a process for the next app, on the engine of `like` if that worker has loaded."""
        with contextlib.suppress(TimeoutError):  # leave the processor to what starts now
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
        """End workers that were idle too long, or the least recently used if there are too many.

        A worker with a run, held or not, or a trial is in use. `coming` more are about to start.
        Returns the seconds until the next worker will have been idle too long; None if none will.
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
        """Return the unused workers, except the last good one of an app that is reloading."""
        current = (app.current for app in self._apps.values() if not app.loading)
        return [worker for worker in current if worker is not None and not worker.runs]

    def _dismiss(self, worker: Worker) -> None:
        """End an idle worker; the next use of its app starts a new one."""
        app = self._apps[worker.app]
        app.current, app.was_tried = None, False
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
                logger.exception("worker %s sent an unusable message", worker.process.pid)
                worker.process.kill()

        def on_output(text: str) -> None:
            # Output from the import's child processes may arrive after the message that it ended.
            if worker.importing or not worker.has_run:
                worker.import_output.keep_raw(text)
            else:
                self._on_output(worker, text)

        status = await worker.process.listen(receive, on_output)
        self._all.discard(worker)
        if not worker.info.done():
            error = _gone_while_loading(worker.process.last_words)
            worker.info.set_exception(AppBroken(error))
        worker.info.exception()  # retrieve it, or asyncio complains if nobody awaits it
        app = self._apps.get(worker.app)
        if app is not None and app.current is worker:
            app.current = None
            self._bus.publish(APPS, AppChanged(worker.app))
        await self._on_end(worker, status)

    async def _receive(self, worker: Worker, message: ToServer) -> None:
        if isinstance(message, AppLoaded):
            worker.info.set_result(message.info)
        elif isinstance(message, AppFailed):
            worker.info.set_exception(AppBroken(message.error, message.environment))
        elif isinstance(message, Output) and worker.importing:
            worker.import_output.take(message)
        elif isinstance(message, EditorAwaited):
            worker.editor_port = message.port
            self._bus.publish(APPS, AppChanged(worker.app))
            await self._deliver(worker, message)
        else:
            await self._deliver(worker, message)

    # --- files -----------------------------------------------------------------------------

    async def _watch_files(self) -> None:
        if self.folder.objects or not self.folder.path.is_dir():
            return  # objects don't change with the files that they came from
        # Not `awatch`, which imports anyio's event loop before the first request is answered.
        changes = watch(self.folder.path, watch_filter=self._files, stop_event=self._leaving)
        while batch := await asyncio.to_thread(next, changes, None):
            names = set(self.folder.names())
            for name in sorted(touched_apps(batch, self.folder.path, names | self._apps.keys())):
                self._on_change(name, exists=name in names)

    def _is_outdated(self, name: str, app: _App) -> bool:
        """Whether the files are known to have changed since they were loaded."""
        return app.version is not None and app.version != self._files.version(name)

    def _on_change(self, name: str, *, exists: bool) -> None:
        app = self._apps.get(name)
        if app is not None and not exists:
            del self._apps[name]
            if app.current is not None:
                self._retire(app.current)
        if app is not None and app.was_tried and exists:
            if app.read_by_run and not self._is_outdated(name, app):
                app.read_by_run = False
                return  # a run was faster than the watcher
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
