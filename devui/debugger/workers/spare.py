"""A worker process that has imported everything all workers need, and waits for its app.

These imports take a second, that of an app a few milliseconds. With a spare worker, the first
message to an app, or after a save, usually doesn't wait for them.
"""

import logging

from devui.debugger.workers.process import WorkerProcess
from devui.interpreter import Interpreter
from devui.wire.engines import EngineChoice

logger = logging.getLogger("devui.workers")


class SpareWorker:
    """The spare process, if there is one."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._process: WorkerProcess | None = None
        self._engine: EngineChoice = "auto"
        self._packages_time = 0
        """When the interpreter's packages had last changed before the process started."""
        self._starting = False

    async def start(self, engine: EngineChoice) -> None:
        """Start a process that imports this engine, unless there is one that serves it.

        If the system has no room for it, workers are started when needed.
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
        """Hand over the process for an app on this engine; None if none can run it."""
        if self._interpreter.packages_time() != self._packages_time:
            await self.end()  # it may have old versions in memory
        if self._process is None or not self._serves(engine):
            return None
        process, self._process = self._process, None
        return process

    def _serves(self, engine: EngineChoice) -> bool:
        # Once google-adk is imported, its module names can't stand for devui.runtime any more.
        return engine != "devui" or self._engine == "devui"

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.discard()
