"""Which engine each app runs on: the one chosen on its page, or else on the command line."""

import asyncio
import contextlib
from pathlib import Path
from typing import Self

from devui.debugger.workers.hosted import Host, HostedWorker
from devui.debugger.workers.interpreter import Interpreter, WrongPython
from devui.debugger.workers.process import WorkerProcess
from devui.debugger.workers.spare import SpareWorker
from devui.settings import Settings
from devui.store.journal import Journal
from devui.wire.engines import EngineChoice, EngineName


class Engines:
    """The choices of people, and the interpreter in which they are carried out."""

    def __init__(self, journal: Journal, settings: Settings, interpreter: Interpreter) -> None:
        self._journal = journal
        self._host = None if settings.hosted is None else Host(settings.hosted)
        self._choices: dict[str, EngineChoice] = {}
        self._debug = settings.debug
        self.default = settings.engine
        """For apps of which nobody has chosen one."""
        self.interpreter = interpreter
        self._keeps_spare = settings.workers.spare and settings.hosted is None
        self._spare = SpareWorker(interpreter)

    @classmethod
    async def load(cls, journal: Journal, settings: Settings, interpreter: Interpreter) -> Self:
        """With the choices that the journal keeps."""
        engines = cls(journal, settings, interpreter)
        engines._choices = {row.app: row.engine for row in await journal.engines.all()}
        return engines

    def choice(self, app: str) -> EngineChoice | None:
        """What was chosen for the app; None for nothing."""
        return self._choices.get(app)

    def of(self, app: str) -> EngineChoice:
        """What the app is started with."""
        return self._choices.get(app, self.default)

    def debug_port(self, app: str) -> int | None:
        """Where the app's worker listens for an editor's debugger; None for nowhere."""
        return self._debug.by_app.get(app)

    async def start(
        self, agents: Path, app: str, engine: EngineChoice | None = None
    ) -> WorkerProcess | HostedWorker:
        """A worker for the app, on this engine or on the app's own.

        One on another engine is for a single run, and no debugger attaches to it.

        Raises OSError as of `WorkerProcess`, and WrongPython for an interpreter in which workers
        cannot run. That is looked at each time: what is missing may be installed meanwhile.
        """
        if self._host is not None:
            return await self._host.start(app, engine or self.of(app))
        port = None if engine else self.debug_port(app)
        if port is None and (spare := await self._spare.take(engine or self.of(app))):
            try:
                await spare.assign(agents, app, engine or self.of(app))
            except ConnectionError:  # it was killed while it waited
                await spare.discard()
            else:
                return spare
        if not self.interpreter.own:
            await asyncio.to_thread(self.interpreter.check)
        options = () if port is None else (f"--debug-port={port}", *self._waiting)
        return await WorkerProcess.start(
            agents, app, engine or self.of(app), self.interpreter, options=options
        )

    async def start_spare(self, engine: EngineName | None = None) -> None:
        """Have a process ready for the next worker, on this engine or on the default one."""
        if not self._keeps_spare:
            return
        with contextlib.suppress(WrongPython):
            if not self.interpreter.own:
                await asyncio.to_thread(self.interpreter.check)
            await self._spare.start(engine or self.default)

    async def end_spare(self) -> None:
        """End the process that waits, if there is one."""
        await self._spare.end()

    @property
    def _waiting(self) -> tuple[str, ...]:
        return ("--wait-for-client",) if self._debug.wait else ()

    async def choose(self, app: str, engine: EngineChoice | None, actor: str) -> None:
        """Keep a choice for the app; None goes back to the default. Raises BadValue."""
        await self._journal.engines.set(app, engine, actor)
        if engine is None:
            self._choices.pop(app, None)
        else:
            self._choices[app] = engine
