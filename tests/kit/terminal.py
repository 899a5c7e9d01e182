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
    """That of the tests, without the token that a server's starter may have set."""
    inherited = {k: v for k, v in os.environ.items() if k != "DEVUI_TOKEN"}
    return {**inherited, "PYTHONUNBUFFERED": "1", **env}


def devui(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command line that is expected to end by itself."""
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
    """Calls commands beside the data folder of a server, which they have to find there."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def __call__(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        data = ("--data-dir", str(self.server.data))
        return devui(*arguments, *data, cwd=self.server.data.parent, **env)

    def open(self, *arguments: str) -> "Opened":
        """Begin a command that goes on until it is interrupted."""
        return Opened(*arguments, "--data-dir", str(self.server.data))


class Opened:
    """A command that is under way; a context manager that ends it in any case."""

    def __init__(self, *arguments: str) -> None:
        self._process = fork_devui(arguments, cwd=Path.cwd(), env=environment())
        self.lines: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.close()

    @property
    def is_over(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def until(self, words: str) -> str:
        """Read lines until one has these words; that line."""
        return self._until(words, self._process.stdout, self.lines)

    def complaint(self, words: str) -> str:
        """Read lines of the error stream until one has these words; that line."""
        return self._until(words, self._process.stderr, [])

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
        """Press Ctrl-C; the exit status and what was said about it."""
        self._process.send_signal(signal.SIGINT)
        _, errors = self._process.communicate(timeout=PATIENCE)
        return self._process.returncode, errors

    def ended(self) -> tuple[int, str]:
        """Wait for the end; the exit status and what was said on the error stream."""
        rest, errors = self._process.communicate(timeout=PATIENCE)
        self.lines += rest.splitlines()
        return self._process.returncode, errors
