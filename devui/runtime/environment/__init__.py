"""Environments: where agents' commands run and their files are (adk-runtime 8.8)."""

import asyncio
import os
import shutil
import signal
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from devui.runtime.lifeline import WATCH, lifeline

# `BaseEnvironment`: a place for commands and files, here or elsewhere (adk-runtime 8.8).


@dataclass
class ExecutionResult:
    """The outcome of a command."""

    exit_code: int = 0
    """The exit status of the command; 0 on success."""
    stdout: str = ""
    """What it wrote to stdout."""
    stderr: str = ""
    """What it wrote to stderr."""
    timed_out: bool = False
    """Whether it was ended because it took too long."""


class BaseEnvironment(ABC):
    """Runs commands in a folder, and reads and writes files. Subclass it for your own sandbox."""

    _is_initialized: bool = False

    @property
    def is_initialized(self) -> bool:
        """Whether it is ready for use."""
        return self._is_initialized

    @is_initialized.setter
    def is_initialized(self, value: bool) -> None:
        self._is_initialized = value

    async def initialize(self) -> None:  # noqa: B027  some have nothing to do
        """Prepare the environment; called before it is used, perhaps more than once."""

    async def close(self) -> None:  # noqa: B027  some have nothing to do
        """Free what it holds; called perhaps more than once."""

    @property
    @abstractmethod
    def working_dir(self) -> Path:
        """The folder in which commands run, as an absolute path."""

    @abstractmethod
    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109  ADK's name
        """Run a shell command, for at most `timeout` seconds."""

    @abstractmethod
    async def read_file(self, path: Path) -> bytes:
        """Return the bytes of a file; relative paths start at the folder.

        Raises:
            FileNotFoundError: it doesn't exist.
        """

    @abstractmethod
    async def write_file(self, path: Path, content: str | bytes) -> None:
        """Write a file and create its folders; relative paths start at the folder."""


# `LocalEnvironment`: runs commands in processes on this machine, without a sandbox.
#
# See adk-runtime 8.8.


_GRACE_SECONDS = 5.0
"""How long a command may take to end when asked to, before it is killed, in seconds."""

_BOOT = (
    WATCH
    + """\
import subprocess

status = subprocess.run(sys.argv[1], shell=True).returncode
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
)
"""Runs a shell command, and ends with its exit status or signal."""

_Output = tuple[bytes, bytes]


class LocalEnvironment(BaseEnvironment):
    """Runs commands with the rights of this process; files stay within its folder."""

    def __init__(
        self, *, working_dir: Path | None = None, env_vars: Mapping[str, str] | None = None
    ) -> None:
        """Choose the folder.

        Args:
            working_dir: An absolute path; without one, a folder is created, and removed at the end.
            env_vars: Variables for commands, in addition to those of this process.
        """
        self._own_folder = working_dir
        self._folder = working_dir
        self._variables = dict(env_vars or {})

    @property
    def working_dir(self) -> Path:
        """The folder. Raises RuntimeError if it hasn't been created yet."""
        if self._folder is None:
            raise RuntimeError("The environment has no folder yet: await its initialize() first.")
        return self._folder

    async def initialize(self) -> None:
        """Create the folder."""
        if self._folder is None:
            # Not in a thread: a concurrent caller would create another folder.
            self._folder = Path(tempfile.mkdtemp(prefix="devui_skills_"))
        else:
            await asyncio.to_thread(os.makedirs, self._folder, exist_ok=True)
        self._is_initialized = True

    async def close(self) -> None:
        """Remove the folder if it was created here."""
        if self._own_folder is None and self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None
        self._is_initialized = False

    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109  ADK's name
        """Run a command; if it takes too long, it is ended with all that it has started."""
        with lifeline() as pipe:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _BOOT, command, str(pipe)),
                pass_fds=(pipe,),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.working_dir,
                env={**os.environ, **self._variables},
                start_new_session=True,  # so that its children can be ended with it
            )
            return await _result(process, timeout)

    async def read_file(self, path: Path) -> bytes:
        """Return the bytes of a file. Raises ValueError for one outside the folder."""
        return await asyncio.to_thread(self._inside(path).read_bytes)

    async def write_file(self, path: Path, content: str | bytes) -> None:
        """Write a file. Raises ValueError for one outside the folder."""
        data = content.encode() if isinstance(content, str) else content
        await asyncio.to_thread(_write, self._inside(path), data)

    def _inside(self, path: Path) -> Path:
        folder = self.working_dir.resolve()
        target = (folder / path).resolve()
        if not target.is_relative_to(folder):
            raise ValueError(f"The path is outside the environment's folder: {path}")
        return target


async def _result(process: asyncio.subprocess.Process, seconds: float | None) -> ExecutionResult:
    output = asyncio.ensure_future(process.communicate())
    try:
        done, _ = await asyncio.wait([output], timeout=seconds)
    except asyncio.CancelledError:
        await _end(process.pid, output)
        raise
    stdout, stderr = output.result() if done else await _end(process.pid, output)
    return ExecutionResult(
        exit_code=process.returncode or 0,
        stdout=stdout.decode("utf-8", errors="replace"),
        stderr=stderr.decode("utf-8", errors="replace"),
        timed_out=not done,
    )


async def _end(group: int, output: asyncio.Future[_Output]) -> _Output:
    """Ask a command's processes to end, then kill the rest; return what it has written."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, sign)
        done, _ = await asyncio.wait([output], timeout=_GRACE_SECONDS)
        if done:
            return output.result()
    output.cancel()  # a process in a group of its own holds the pipes
    return b"", b""


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


__all__ = ["BaseEnvironment", "ExecutionResult", "LocalEnvironment"]
