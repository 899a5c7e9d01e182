"""A worker process that has imported what every worker does, and waits for its app.

That takes a second, and the import of an app a few milliseconds. So neither the first message to an
app nor the first one after a save has to wait for it.
"""

import contextlib
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
        self._packages = 0
        """When the interpreter's packages had changed before it was started."""
        self._starting = False

    async def start(self, engine: EngineChoice) -> None:
        """Start one that imports this engine, unless there is one.

        If the system has no room for it, there is none, and workers are started when needed.
        """
        if self._starting or self._process is not None:
            return
        self._starting = True
        packages = self._interpreter.changed()
        try:
            self._process = await WorkerProcess.spare(self._interpreter, engine)
            self._engine, self._packages = engine, packages
        except OSError as error:
            logger.info("no spare worker: %s", error)
        finally:
            self._starting = False

    async def take(self, engine: EngineChoice) -> WorkerProcess | None:
        """The process, for an app on this engine; None if there is none that can run it."""
        if self._interpreter.changed() != self._packages:
            await self.end()  # it has an old version in memory
        # Where google-adk is in memory, its names can't be those of devui.runtime any more.
        if self._process is None or (engine == "devui" and self._engine != "devui"):
            return None
        process, self._process = self._process, None
        return process

    async def end(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                await process.discard()
