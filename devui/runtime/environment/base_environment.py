"""`BaseEnvironment`: a place for commands and files, here or elsewhere (adk-runtime 8.8)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path


@dataclass
class ExecutionResult:
    """How a command ended."""

    exit_code: int = 0
    """The status of the command; 0 if it went well."""
    stdout: str = ""
    """What it printed."""
    stderr: str = ""
    """What it complained of."""
    timed_out: bool = False
    """Whether it was ended since it took too long."""


class BaseEnvironment(ABC):
    """Runs commands in a folder, and reads and writes files; write one for your own sandbox."""

    _is_initialized: bool = False

    @property
    def is_initialized(self) -> bool:
        """Whether it is ready to be used."""
        return self._is_initialized

    @is_initialized.setter
    def is_initialized(self, value: bool) -> None:
        self._is_initialized = value

    async def initialize(self) -> None:  # noqa: B027  some have nothing to do
        """Make it ready; called before it is used, perhaps more than once."""

    async def close(self) -> None:  # noqa: B027  some have nothing to do
        """Let go of what it holds; perhaps more than once."""

    @property
    @abstractmethod
    def working_dir(self) -> Path:
        """The folder in which commands run, absolute."""

    @abstractmethod
    async def execute(self, command: str, *, timeout: float | None = None) -> ExecutionResult:  # noqa: ASYNC109  ADK's name
        """Run a command of a shell, for so many seconds at the most."""

    @abstractmethod
    async def read_file(self, path: Path) -> bytes:
        """The bytes of a file; relative paths begin in the folder.

        Raises:
            FileNotFoundError: there is none.
        """

    @abstractmethod
    async def write_file(self, path: Path, content: str | bytes) -> None:
        """Write a file and the folders above it; relative paths begin in the folder."""
