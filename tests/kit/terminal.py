"""The `devui` command as a child process, as a person or a script calls it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Self

from tests.kit.fork_server import fork_devui, is_forkable
from tests.kit.patience import PATIENCE
from tests.kit.server import Server


def environment(**env: str) -> dict[str, str]:
    """Return the tests' environment, without a token that a server's starter may have set."""
    inherited = {k: v for k, v in os.environ.items() if k != "DEVUI_TOKEN"}
    return {**inherited, "PYTHONUNBUFFERED": "1", **env}


def devui(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that is expected to end by itself, and return its result."""
    variables = environment(**env)
    if is_forkable(variables):
        process = fork_devui(arguments, cwd=cwd, env=variables)
        output, errors = process.communicate(PATIENCE)
        return subprocess.CompletedProcess(arguments, process.returncode or 0, output, errors)
    return subprocess.run(
        [sys.executable, "-m", "devui", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=variables,
        timeout=PATIENCE,
        check=False,
    )


class Terminal:
    """Calls commands with the data folder of a server, where they must find the server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def __call__(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        data = ("--data-dir", str(self.server.data))
        return devui(*arguments, *data, cwd=self.server.data.parent, **env)

    def open(self, *arguments: str) -> "RunningCommand":
        """Start a command that runs until it is interrupted."""
        return RunningCommand(*arguments, "--data-dir", str(self.server.data))


class RunningCommand:
    """A running command; a context manager that ends it in any case."""

    def __init__(self, *arguments: str) -> None:
        self._process = fork_devui(arguments, cwd=Path.cwd(), env=environment())
        self.lines: list[str] = []
        self.complaints: list[str] = []
        """The lines read from the error stream."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.close()

    @property
    def is_over(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def until(self, words: str) -> str:
        """Read lines until one has these words, and return that line."""
        return self._until(words, self._process.stdout, self.lines)

    def complaint(self, words: str) -> str:
        """Read lines of the error stream until one has these words, and return that line."""
        return self._until(words, self._process.stderr, self.complaints)

    def _until(self, words: str, stream: IO[str], lines: list[str]) -> str:
        patience = threading.Timer(PATIENCE, self._process.kill)
        patience.start()
        try:
            while line := stream.readline():
                lines.append(line.rstrip("\n"))
                if words in line:
                    return lines[-1]
        finally:
            patience.cancel()
        raise AssertionError(f"{words!r} was not printed: {lines}")

    def interrupt(self) -> tuple[int, str]:
        """Press Ctrl-C, and return the exit status and the rest of the error stream."""
        self._process.send_signal(signal.SIGINT)
        _, errors = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, errors

    def ended(self) -> tuple[int, str]:
        """Wait for the end, and return the exit status and the rest of the error stream."""
        rest, errors = self._process.communicate(timeout=PATIENCE)
        self.lines += rest.splitlines()
        return self._process.returncode, errors
