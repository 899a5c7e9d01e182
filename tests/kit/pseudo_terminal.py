"""The `devui` command, or a script, at a terminal: what a person types, and what they see."""

import os
import pty
import re
import select
import signal
import sys
import time
from pathlib import Path
from typing import Self

from tests.kit.patience import PATIENCE
from tests.kit.terminal import environment

CTRL_C, CTRL_D = "\x03", "\x04"
_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class PseudoTerminal:
    """A command running at a terminal of its own; a context manager that ends it in any case."""

    def __init__(
        self, *arguments: str, cwd: Path, program: tuple[str, ...] = ("-m", "devui"), **env: str
    ) -> None:
        """`program` is what Python is started with, before the arguments."""
        self._seen = ""
        self.screen = ""
        """Everything that was shown, without styles."""
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # the tests may run where it is ignored
            command = [sys.executable, *program, *arguments]
            os.execve(command[0], command, environment(TERM="dumb", **env))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)

    def type(self, text: str, end: str = "\n") -> None:
        os.write(self._file, f"{text}{end}".encode())

    def press(self, key: str) -> None:
        self.type(key, end="")

    def until(self, words: str) -> str:
        """Read until these words are shown; return what was shown before them and not read yet."""
        patience = time.monotonic() + PATIENCE
        while words not in self._seen:
            assert time.monotonic() < patience, f"{words!r} was not shown: {self.screen}"
            assert self._read(), f"{words!r} was not shown before the end: {self.screen}"
        before, _, self._seen = self._seen.partition(words)
        return before

    def interrupt(self, words: str) -> None:
        """Press Ctrl-C until these words are shown.

        A signal that arrives just before Python's prompt waits for a key is seen at the next key.
        """
        for _ in range(int(PATIENCE // 10)):
            self.press(CTRL_C)
            while words not in self._seen and select.select([self._file], [], [], 10)[0]:
                if not self._read():
                    break
            if words in self._seen:
                self.until(words)
                return
        raise AssertionError(f"{words!r} was not shown: {self.screen}")

    def left(self) -> int:
        """Press Ctrl-C until the command has ended, and return its exit status."""
        for _ in range(int(PATIENCE // 10)):
            self.press(CTRL_C)
            while select.select([self._file], [], [], 10)[0]:
                if not self._read():
                    return self.ended()
        raise AssertionError(f"it has not ended: {self.screen}")

    def ended(self) -> int:
        """Wait for the end, and return the exit status."""
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._file], [], [], PATIENCE)
        assert ready, f"nothing more is shown: {self.screen}"
        try:
            piece = os.read(self._file, 65536)
        except OSError:  # how Linux reports that the other side is closed
            return False
        text = _STYLES.sub("", piece.decode(errors="replace")).replace("\r\n", "\n")
        self._seen += text
        self.screen += text
        return bool(piece)
