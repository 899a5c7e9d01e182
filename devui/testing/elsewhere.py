"""Plays in a Python that has the agents' packages and the engine that recorded the run.

pytest runs in devui's own Python; that of the agents needs neither pytest nor devui. Imports of
`google.adk` mean one runtime for all of a process, so each engine has a process of its own, which
stays until pytest ends: an engine takes seconds to import.
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

from devui.testing.offline import is_offline
from devui.wire.engines import EngineChoice
from devui.wire.recordings import RecordedEngine
from devui.worker import standalone
from devui.worker.engines.choice import adk_is_installed

_PYTHON: Final = "DEVUI_WORKER_PYTHON"
"""The variable with the agents' Python, or its environment, for the server and for tests."""
_SECONDS_TO_END: Final = 3.0
_PROGRAM: Final = (
    "import runpy, sys; runpy.run_path(sys.argv[1]); from devui.testing import player;"
    " player.main(*sys.argv[2:])"
)


class EngineMissing(RuntimeError):
    """The engine that recorded a run isn't where its test is played; says what to do."""


class NotPlayed(RuntimeError):
    """The other Python could not play a recording; has its traceback, if there is one."""


def require(engine: RecordedEngine | None, recording: Path) -> None:
    """Raise EngineMissing if this Python lacks what a recording needs."""
    if engine is None or engine.name != "google-adk" or adk_is_installed():
        return
    raise EngineMissing(
        f"{recording.name} was recorded on {engine}, which {sys.executable} doesn't have. Name a"
        " Python that has it with `devui test --python PATH` (for pytest, in DEVUI_WORKER_PYTHON),"
        f" or install it with `{sys.executable} -m pip install google-adk=={engine.version}`."
    )


def named_python() -> Path | None:
    """The agents' Python if it was named and isn't this one."""
    if not (value := os.environ.get(_PYTHON)):
        return None
    # A link is not followed: an environment's interpreter is one, and where it lies counts.
    path = Path(value).absolute()
    path = path / "bin" / "python" if path.is_dir() else path
    return None if path == Path(sys.executable) else path


@cache
def player(python: Path, engine: EngineChoice) -> "Player":
    """The process that plays on this engine."""
    return Player(python, engine)


class Player:
    """A process that plays one recording after another; if one ends it, the next has a new one."""

    def __init__(self, python: Path, engine: EngineChoice) -> None:
        self._python = python
        self._engine = engine
        self._start()
        atexit.register(self._end)

    def _start(self) -> None:
        options = ["offline"] if is_offline() else []
        self._process = subprocess.Popen(  # noqa: S603 - the interpreter that the user named
            [self._python, "-P", "-c", _PROGRAM, standalone.__file__, self._engine, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self._orders = cast("IO[str]", self._process.stdin)
        self._answers = cast("IO[str]", self._process.stdout)

    def play(self, agent: Path, recording: Path) -> dict[str, Any]:
        """The fields of a `Result`; raises NotPlayed."""
        order = json.dumps({"agent": str(agent), "recording": str(recording)})
        with suppress(BrokenPipeError):  # it ended; the missing answer says so
            self._orders.write(f"{order}\n")
            self._orders.flush()
        try:
            line = self._answers.readline()
        except BaseException:  # such as a time limit: its answer would be that of the next order
            self._restart()
            raise
        if not line:
            status = self._restart()
            raise NotPlayed(f"{self._python} ended with status {status} while it played the run")
        answer: dict[str, Any] = json.loads(line)
        if "raised" in answer:
            raise NotPlayed(f"in {self._python}:\n{answer['raised']}")
        return answer

    def _restart(self) -> int:
        """Begin anew; the status of the process that played until now."""
        self._end()
        status = self._process.returncode
        self._start()
        return status

    def _end(self) -> None:
        """End it: it reads to the end of its orders, but a thread of the agent may go on."""
        with suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.communicate(timeout=_SECONDS_TO_END)
        self._process.kill()
        self._process.wait()
