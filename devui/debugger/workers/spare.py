"""A worker process that has imported what every worker does, and waits for its app.

That takes a second, and the import of an app a few milliseconds. Mostly, neither the first message
to an app nor the first one after a save has to wait for it.
"""

import logging

from devui.debugger.workers.interpreter import Interpreter
from devui.debugger.workers.process import WorkerProcess
from devui.wire.engines import EngineChoice

logger = logging.getLogger("devui.workers")


class SpareWorker:
    """At most one such process."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._process: WorkerProcess | None = None
        self._engine: EngineChoice = "auto"
        self._packages_time = 0
        """When packages of the interpreter were last changed before it was started."""
        self._starting = False

    async def start(self, engine: EngineChoice) -> None:
        """Start one that imports this engine, unless there is one.

        If the system has no room for it, there is none, and workers are started when needed.
        """
        if self._process is not None and not self._serves(engine):
            await self.end()
        if self._starting or self._process is not None:
            return
        self._starting = True
        try:
            packages = self._interpreter.packages_time()
            self._process = await WorkerProcess.spare(self._interpreter, engine)
            self._engine, self._packages_time = engine, packages
        except OSError as error:
            logger.info("no spare worker: %s", error)
        finally:
            self._starting = False

    async def take(self, engine: EngineChoice) -> WorkerProcess | None:
        """The process, for an app on this engine; None if there is none that can run it."""
        if self._interpreter.packages_time() != self._packages_time:
            await self.end()  # it has an old version in memory
        if self._process is None or not self._serves(engine):
            return None
        process, self._process = self._process, None
        return process

    def _serves(self, engine: EngineChoice) -> bool:
        # Where google-adk is in memory, its names can't be those of devui.runtime any more.
        return engine != "devui" or self._engine == "devui"

    async def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            await process.discard()
