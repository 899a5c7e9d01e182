"""What one server is started with."""

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
"""What stands for an address that means every interface."""


class WrongLimit(ValueError):
    """What was given is no limit."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may do before it is ended, and how many may go on at once (R34).

    They are there for the agent that never ends while nobody looks: far above what a run does that
    somebody follows.
    """

    runs: int = 64
    """Runs that go on at once; the others are of one run."""
    events: int = 20_000
    calls: int = 5_000
    """Calls of tools."""
    megabytes: int = 1_000
    """Of its events, as JSON."""
    seconds: int = 24 * 60 * 60
    """At work: the time for which the debugger held it does not count."""

    @classmethod
    def read(cls, entries: Iterable[str]) -> Self:
        """The defaults with what is given, each `name=number`. Raises WrongLimit."""
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
    """How long the processes of apps are kept while nothing runs in them, and how many."""

    idle_minutes: float = 30.0
    """Without a use; 0 keeps them for good."""
    most: int = 16
    """Alive at once. More may be needed while runs are under way in all of them."""
    spare: bool = True
    """Whether one waits for the next app."""


HOSTED_WORKERS = WorkerLimits(idle_minutes=0, most=1_000)
"""A worker there costs no process, and the agent goes on existing without one."""


class WrongDebugPort(ValueError):
    """What was given names no port for one app."""


class NoDebugger(Exception):
    """The Python that agents run in lacks debugpy."""


@dataclass(frozen=True, slots=True)
class DebugPorts:
    """Where the workers of apps listen for an editor's debugger (debugpy), on 127.0.0.1."""

    by_app: Mapping[str, int] = field(default_factory=dict)
    wait: bool = False
    """Whether such a worker imports its app only once a client is attached."""

    @classmethod
    def read(cls, entries: Iterable[str], apps: Sequence[str], *, wait: bool) -> Self:
        """Each entry is `PORT`, for the only app there is, or `APP=PORT`. Raises WrongDebugPort."""
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
    """Apps that exist as objects of another process, which runs them.

    (`devui.serve`, `devui --in-process`)
    """

    apps: tuple[str, ...]
    control: int
    """The descriptor of the socket to that process."""
    pid: int


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
    limits: Limits = Limits()
    engine: EngineChoice = "auto"
    """What runs the apps for which nobody has chosen an engine."""
    python: Path | None = None
    """The interpreter of the workers, or the folder of its environment; None for this one."""
    workers: WorkerLimits = WorkerLimits()
    create_sessions: bool = False
    """Whether a run of ADK's REST API makes the session that it names, if there is none."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """More variables for the processes of the apps; empty ones are left out."""
    allow_origins: tuple[str, ...] = ()
    """Origins whose pages may call the API, as `Origins.read` takes them."""
    adk_web: Path | None = None
    """The folder of google-adk's front end, which is served beside the pages; None for none."""
    pages: bool = True
    """Whether there are pages beside the APIs."""
    debug: DebugPorts = DebugPorts()
    hosted: Hosted | None = None
    """The apps to serve instead of those in the folder; None for the folder's."""

    @property
    def url(self) -> str:
        """Where this machine reaches the server: `http://127.0.0.1:8000`, without a slash."""
        host = _LOOPBACK.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"
