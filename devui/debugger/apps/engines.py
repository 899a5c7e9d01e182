"""The engine of each app: the one chosen on its page, or else on the command line."""

import asyncio
import contextlib
from pathlib import Path
from typing import Self

from devui.debugger.workers.hosted import Host, HostedWorker
from devui.debugger.workers.process import WorkerProcess
from devui.debugger.workers.spare import SpareWorker
from devui.interpreter import Interpreter, WrongPython
from devui.settings import Settings
from devui.store.journal import Journal
from devui.wire.engines import EngineChoice, EngineName


class Engines:
    """The chosen engines, and the interpreter that runs them."""

    def __init__(self, journal: Journal, settings: Settings, interpreter: Interpreter) -> None:
        self._journal = journal
        self._host = None if settings.hosted is None else Host(settings.hosted)
        self._choices: dict[str, EngineChoice] = {}
        self._debug = settings.debug
        self.default = settings.engine
        """The engine of apps for which nobody has chosen one."""
        self.interpreter = interpreter
        self._keeps_spare = settings.workers.spare and settings.hosted is None
        self._spare = SpareWorker(interpreter)

    @classmethod
    async def load(cls, journal: Journal, settings: Settings, interpreter: Interpreter) -> Self:
        """Load the choices from the journal."""
        engines = cls(journal, settings, interpreter)
        engines._choices = {row.app: row.engine for row in await journal.engines.all()}
        return engines

    def choice(self, app: str) -> EngineChoice | None:
        """Return the engine chosen for the app, if any."""
        return self._choices.get(app)

    def of(self, app: str) -> EngineChoice:
        """Return the engine that the app starts with."""
        return self._choices.get(app, self.default)

    def debug_port(self, app: str) -> int | None:
        """Return the port on which the app's worker listens for an editor's debugger, if any."""
        return self._debug.by_app.get(app)

    async def start(
        self, agents: Path, app: str, engine: EngineChoice | None = None
    ) -> WorkerProcess | HostedWorker:
        """Start a worker for the app, on the given engine or on the app's own.

        A worker on a given engine is for a single run, and no debugger can attach to it.

        Raises OSError like `WorkerProcess.start`, and WrongPython if workers can't run in the
        interpreter. That is checked each time, since missing packages may have been installed.
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
        """Start a spare process for the next worker, on this engine or on the default one."""
        if not self._keeps_spare:
            return
        with contextlib.suppress(WrongPython):
            if not self.interpreter.own:
                await asyncio.to_thread(self.interpreter.check)
            await self._spare.start(engine or self.default)

    async def end_spare(self) -> None:
        """End the spare process, if there is one."""
        await self._spare.end()

    @property
    def _waiting(self) -> tuple[str, ...]:
        return ("--wait-for-client",) if self._debug.wait else ()

    async def choose(self, app: str, engine: EngineChoice | None, actor: str) -> None:
        """Store the engine chosen for the app; None restores the default. Raises BadValue."""
        await self._journal.engines.set(app, engine, actor)
        if engine is None:
            self._choices.pop(app, None)
        else:
            self._choices[app] = engine
