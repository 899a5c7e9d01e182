"""The settings that a server is started with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Self

from devui.wire.engines import EngineChoice

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
DEFAULT_DATA_DIR = Path(".devui")

_LAST_PORT = 65_535
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""The loopback address to use in URLs for each wildcard address."""


class WrongLimit(ValueError):
    """A limit has an unknown name or an invalid number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may do before it is stopped, and how many may be active at once (R34).

    The defaults guard against an unattended agent that never ends. They are far above what a run
    does while somebody watches it.
    """

    runs: int = 64
    """Active runs. All other limits apply to a single run."""
    events: int = 20_000
    calls: int = 5_000
    """Tool calls."""
    megabytes: int = 1_000
    """The size of its events, as JSON."""
    seconds: int = 24 * 60 * 60
    """How long it may run, not counting the time when the debugger holds it."""

    @classmethod
    def read(cls, entries: Iterable[str]) -> Self:
        """Return the defaults, overridden by entries of the form `name=number`.

        Raises WrongLimit if an entry is invalid.
        """
        limits = cls()
        names = [each.name for each in fields(cls)]
        for text in entries:
            name, _, number = text.partition("=")
            if name not in names:
                raise WrongLimit(f"{text!r}: what can be limited is {', '.join(names)}")
            if not (number.isascii() and number.isdigit() and int(number)):
                raise WrongLimit(f"{text!r}: say a whole number from 1 on, as in {name}=100")
            limits = replace(limits, **{name: int(number)})
        return limits


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits on the number of workers, and on how long idle ones are kept."""

    idle_minutes: float = 30.0
    """How long an unused worker is kept; 0 keeps it forever."""
    most: int = 16
    """How many are kept alive at once; exceeded while all of them are executing runs."""
    spare: bool = True
    """Whether to keep a spare worker ready for the next app."""


HOSTED_WORKERS = WorkerLimits(idle_minutes=0, most=1_000)
"""Keeps the workers of hosted apps: they cost no process, and stopping one frees no agent."""


class WrongDebugPort(ValueError):
    """A debug port is invalid or doesn't name one app."""


class NoDebugger(Exception):
    """The agents' Python lacks debugpy."""


@dataclass(frozen=True, slots=True)
class DebugPorts:
    """The ports on 127.0.0.1 where workers listen for an editor's debugger (debugpy)."""

    by_app: Mapping[str, int] = field(default_factory=dict)
    wait: bool = False
    """Whether these workers import their app only once a client is attached."""

    @classmethod
    def read(cls, entries: Iterable[str], apps: Sequence[str], *, wait: bool) -> Self:
        """Parse entries of the form `APP=PORT`, or `PORT` if there is only one app.

        Raises WrongDebugPort if an entry is invalid.
        """
        ports: dict[str, int] = {}
        for text in entries:
            name, _, number = text.rpartition("=")
            if not (number.isascii() and number.isdigit() and 0 < int(number) <= _LAST_PORT):
                raise WrongDebugPort(f"{text!r}: give a port from 1 to {_LAST_PORT}, as in 5678")
            if not name and len(apps) != 1:
                raise WrongDebugPort(
                    f"{text!r}: there are {len(apps)} apps, so name one, as in"
                    f" {next(iter(apps), 'my_app')}={number}"
                )
            app = name or apps[0]
            if app not in apps:
                raise WrongDebugPort(f"{text!r}: there is no app {app!r} in the agents folder")
            if int(number) in ports.values():
                raise WrongDebugPort(f"{text!r}: give each app a port of its own")
            ports[app] = int(number)
        return cls(ports, wait)


@dataclass(frozen=True, slots=True)
class Hosted:
    """Apps that are objects of another process, which runs them.

    (`devui.serve`, `devui --in-process`)
    """

    apps: tuple[str, ...]
    control: int
    """The file descriptor of the socket to that process."""
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The validated options of a server."""

    agents: Path
    """The folder of the apps, or the folder of one app."""
    data_dir: Path = DEFAULT_DATA_DIR
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    """The bound port, never 0."""
    auth: bool = True
    """Whether to require a sign-in; optional only on loopback addresses."""
    limits: Limits = Limits()
    engine: EngineChoice = "auto"
    """The engine of apps for which nobody has chosen one."""
    python: Path | None = None
    """The workers' interpreter, or the folder of its environment; None for this one."""
    workers: WorkerLimits = WorkerLimits()
    create_sessions: bool = False
    """Whether a run started through ADK's REST API creates its session if it doesn't exist."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables to add for the workers; empty ones are skipped."""
    allow_origins: tuple[str, ...] = ()
    """Origins whose pages may call the API, as `Origins.read` takes them."""
    adk_web: Path | None = None
    """The folder of google-adk's front end, if it is served, too."""
    pages: bool = True
    """Whether to serve pages in addition to the APIs."""
    debug: DebugPorts = DebugPorts()
    hosted: Hosted | None = None
    """The apps to serve instead of those in the folder, if another process runs them."""

    @property
    def url(self) -> str:
        """The server's URL on this machine: `http://127.0.0.1:8000`, without a slash."""
        host = _LOOPBACK.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
