"""What one server is started with."""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
DEFAULT_DATA_DIR = Path(".devui")

_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""What stands for an address that means every interface."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The choices of the command line, checked."""

    agents: Path
    """The folder of the apps, or one app's own folder."""
    data_dir: Path = DEFAULT_DATA_DIR
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """The port that is bound, never 0."""
    auth: bool = True
    """Whether a sign-in is needed; only a loopback address may go without."""
    pages: bool = True
    """Whether there are pages beside the APIs."""

    @property
    def url(self) -> str:
        """Where this machine reaches the server: `http://127.0.0.1:8000`, without a slash."""
        host = _LOOPBACK.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
