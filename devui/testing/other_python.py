"""Plays recordings in a Python that has the agents' packages and the engine that recorded the run.

pytest runs in devui's own Python; the agents' Python needs neither pytest nor devui. `google.adk`
can only stand for one runtime within a process, so each engine has its own process. Since an engine
takes seconds to import, the process is kept until pytest ends.
"""

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, cast

from devui.interpreter import WORKER_PYTHON, Interpreter, WrongPython
from devui.testing.offline import is_offline
from devui.wire.engines import EngineChoice
from devui.wire.recordings import RecordedEngine
from devui.worker import standalone
from devui.worker.engines.choice import adk_is_installed

_SECONDS_TO_END: Final = 3.0
_PROGRAM: Final = (
    "import runpy, sys; runpy.run_path(sys.argv[1]); from devui.testing import player;"
    " player.main(*sys.argv[2:])"
)


class EngineMissing(RuntimeError):
    """The Python that plays a test lacks the recording's engine; the message says what to do."""


class ReplayFailed(RuntimeError):
    """The other Python couldn't play a recording; the message has its traceback, if any."""


def require(engine: RecordedEngine | None, recording: Path) -> None:
    """Raise EngineMissing if this Python lacks the engine of a recording."""
    if engine is None or engine.name != "google-adk" or adk_is_installed():
        return
    raise EngineMissing(
        f"{recording.name} was recorded on {engine}, which {sys.executable} doesn't have. Name a"
        " Python that has it with `devui test --python PATH` (for pytest, in DEVUI_WORKER_PYTHON),"
        f" or install it with `{sys.executable} -m pip install google-adk=={engine.version}`."
    )


def agents_interpreter() -> Interpreter:
    """Return the Python that DEVUI_WORKER_PYTHON names, or this one. Raises WrongPython."""
    value = os.environ.get(WORKER_PYTHON)
    try:
        return Interpreter.at(Path(value) if value else None)
    except WrongPython as error:
        raise WrongPython(f"{WORKER_PYTHON}: {error}") from error


@cache
def player(interpreter: Interpreter, engine: EngineChoice) -> "Player":
    """Return the process that plays on this engine."""
    return Player(interpreter, engine)


class Player:
    """A process that plays one recording after another, and is restarted if it ends."""

    def __init__(self, interpreter: Interpreter, engine: EngineChoice) -> None:
        self._interpreter = interpreter
        self._engine = engine
        self._start()
        atexit.register(self._end)

    def _start(self) -> None:
        python, options = self._interpreter.path, ["offline"] if is_offline() else []
        self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user named
            [python, "-P", "-c", _PROGRAM, standalone.__file__, self._engine, *options],
            env=self._interpreter.environment(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._orders = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def play(self, agent: Path, recording: Path) -> dict[str, Any]:
        """Play a recording, and return the fields of a `Result`.

        Raises ReplayFailed and WrongPython.
        """
        order = json.dumps({"agent": str(agent), "recording": str(recording)})
        with suppress(BrokenPipeError):  # it has ended, as the missing answer will show
            self._orders.write(f"{order}\n")
            self._orders.flush()
        try:
            line = self._answers.readline()
        except BaseException:  # such as a timeout: the next order would get this one's answer
            self._restart()
            raise
        if not line:
            status = self._restart()
            self._interpreter.check()  # only now, since it starts a process
            python = self._interpreter.path
            raise ReplayFailed(f"{python} ended with status {status} while it played the run")
        answer: dict[str, Any] = json.loads(line)
        if "raised" in answer:
            raise ReplayFailed(f"in {self._interpreter.path}:\n{answer['raised']}")
        return answer

    def _restart(self) -> int:
        """Restart the process, and return the exit status of the previous one."""
        self._end()
        status = self._process.returncode
        self._start()
        return status

    def _end(self) -> None:
        """End the process; kill it if an agent's thread keeps it alive."""
        with suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=_SECONDS_TO_END)
        self._process.kill()
        self._process.wait()
