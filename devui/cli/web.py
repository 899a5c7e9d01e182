"""`devui web`, or `devui` alone: opens the UI on a folder of agents."""

import asyncio
import contextlib
import errno
import logging
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NoReturn

import click
from click.core import ParameterSource

from devui import __version__
from devui.cli.options import (
    SERVED_BY,
    Effects,
    adk_options,
    engine_option,
    json_text,
    python_option,
)
from devui.debugger.apps.apps import AppFolder
from devui.debugger.events.prices import WrongPrices
from devui.interpreter import Interpreter, NoFrontEnd, WrongPython, front_end
from devui.settings import (
    DEFAULT_DATA_DIR,
    DEFAULT_HOST,
    DEFAULT_PORT,
    HOSTED_WORKERS,
    DebugPorts,
    Hosted,
    Limits,
    NoDebugger,
    Settings,
    WorkerLimits,
    WrongDebugPort,
    WrongLimit,
)
from devui.store.errors import StoreError
from devui.web.program import Announce, serve
from devui.web.security.access import Access, WeakToken
from devui.web.security.hosts import BadHostEntry, BindRefused, Origins, check_bind
from devui.web.security.redaction import KnownSecrets
from devui.web.text.deceptive_characters import visible
from devui.wire.engines import EngineChoice

_PORTS_TRIED = 50
_BACKLOG = 128
_UNREAD_SECONDS = 30
"""How long a client may go without reading before the system disconnects it, in seconds (R60).

Streams drop such a client earlier, but the data left in the connection's buffers would keep the
connection open for as long as the client lives.
"""
_ABOUT_THE_PORT = {errno.EADDRINUSE, errno.EACCES}


def listen(host: str, port: int | None) -> list[socket.socket]:
    """Return listening sockets on the given port, or on the first free one from the default on.

    Raises OSError; the message names the option to change.
    """
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED) if port is None else [port]
    for candidate in ports:
        try:
            return _bind(host, candidate)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            option = "--port" if error.errno in _ABOUT_THE_PORT else "--host"
            raise OSError(
                f"cannot listen on {host}:{candidate}: {error.strerror}; choose another {option}"
            ) from error
    raise OSError(f"no free port between {ports[0]} and {ports[-1]} on {host}")


def _bind(host: str, port: int) -> list[socket.socket]:
    """Return sockets on the address, and for 127.0.0.1 also on ::1, so that we own `localhost`.

    Raises OSError if the port is taken on either.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sockets = [_socket(family, host, port)]
    if host == DEFAULT_HOST and _has_ipv6_loopback():
        try:
            sockets.append(_socket(socket.AF_INET6, "::1", sockets[0].getsockname()[1]))
        except OSError:
            sockets[0].close()
            raise
    return sockets


def _socket(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # Not socket.create_server: it leaves the protocol at 0, and asyncio disables Nagle's algorithm
    # only for sockets with the TCP protocol. With Nagle, each piece of a stream waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if sys.platform == "linux":  # connections inherit it from their listener
            limit = _UNREAD_SECONDS * 1000
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, limit)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _has_ipv6_loopback() -> bool:
    """Return whether the system has the address ::1."""
    try:
        _socket(socket.AF_INET6, "::1", 0).close()
    except OSError:
        return False
    return True


_FORM: Final = "%(levelname)s %(name)s: %(message)s"
_FURTHER: Final = "    "


class TerminalFormatter(logging.Formatter):
    """Escapes control characters, and indents all lines of a record after the first.

    `clean` redacts secrets.
    """

    def __init__(self, form: str, clean: Callable[[str], str]) -> None:
        super().__init__(form)
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        """Format a record so that it can't move the cursor or imitate another record."""
        text = visible(self._clean(super().format(record)))
        first, *further = text.replace("\r", "\\r").split("\n")
        return "\n".join([first, *(_FURTHER + line for line in further)])


def log_to_terminal(level: str, agents: Path) -> None:
    """Log everything from `level` ("warning") upwards to standard error.

    Secrets of the apps in the folder `agents` are redacted (R64).
    """
    handler = logging.StreamHandler()
    handler.setFormatter(
        TerminalFormatter(_FORM, KnownSecrets(AppFolder.at(agents)).for_everybody.text)
    )
    logging.basicConfig(level=level.upper(), handlers=[handler])


_LIMITS = WorkerLimits()
_REFUSED = (
    BadHostEntry,
    BindRefused,
    NoFrontEnd,
    NoDebugger,
    WeakToken,
    WrongPython,
    OSError,
)
"""The errors of valid options that a change of the environment could fix."""
_MISUSED = (WrongDebugPort, WrongLimit)
"""The errors of invalid options."""
_WORKER_OPTIONS: Final = {
    "python": "--python",
    "debug_ports": "--debug-port",
    "wait_for_client": "--wait-for-client",
    "idle_worker": "--idle-worker",
    "max_workers": "--max-workers",
    "no_spare_worker": "--no-spare-worker",
}
_IN_PROCESS: Final = (
    "Agents run in this process (--in-process). Restart devui to use changed code. A crash or a"
    " blocked event loop affects all agents."
)
_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")


def _worker_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options for workers to a command, which gets them as `workers`."""

    @click.option(
        "--idle-worker",
        metavar="MINUTES",
        type=click.FloatRange(0),
        default=_LIMITS.idle_minutes,
        show_default=True,
        help="Stop an app's process after this long without use; 0 keeps it running.",
    )
    @click.option(
        "--max-workers",
        metavar="N",
        type=click.IntRange(1),
        default=_LIMITS.most,
        show_default=True,
        help="Keep at most N app processes running; the least recently used stops first.",
    )
    @click.option(
        "--no-spare-worker",
        is_flag=True,
        help="Don't keep a process ready for the next app. Saves about 80 MB; the first message"
        " to an app, or after a save, takes about a second longer.",
    )
    @wraps(function)
    def wrapped(
        *, idle_worker: float, max_workers: int, no_spare_worker: bool, **values: Any
    ) -> None:
        workers = WorkerLimits(idle_worker, max_workers, spare=not no_spare_worker)
        function(workers=workers, **values)

    return wrapped


@click.command("web", short_help="Open the UI (the default command).")
@click.argument("agents", metavar="[AGENTS_DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on. By default {DEFAULT_PORT} or the next free one; 0 picks any.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_DATA_DIR,
    show_default=True,
    help="Data folder, where sessions are stored.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print the link and the token as a line of JSON."
)
@click.option("--no-auth", is_flag=True, help="Turn off the sign-in; loopback addresses only.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow addresses that other machines can reach; requires DEVUI_TOKEN.",
)
@click.option(
    "--allow-origins",
    "--allow_origins",
    metavar="ORIGIN",
    multiple=True,
    help="Let pages of this origin call the API with the token; also regex:PATTERN, or * for all.",
)
@engine_option
@python_option
@click.option(
    "--limit",
    "limits",
    metavar="NAME=N",
    multiple=True,
    help="Stop a run after N events, calls (tool calls), megabytes or seconds, or allow at most N"
    " runs at once. Repeatable.",
)
@click.option(
    "--debug-port",
    "debug_ports",
    metavar="[APP=]PORT",
    multiple=True,
    help="Let your editor's debugger attach to an app's process on this port. Repeatable; requires"
    " debugpy.",
)
@click.option(
    "--wait-for-client",
    is_flag=True,
    help="With --debug-port: load the app once a debugger is attached.",
)
@click.option(
    "--in-process",
    is_flag=True,
    help="Run agents in this process, so that breakpoint() opens pdb in this terminal. Restart"
    " devui to use changed code.",
)
@click.option("--served-by", type=(int, int), envvar=SERVED_BY, hidden=True)
@_worker_options
@click.option(
    "--adk-web",
    is_flag=True,
    help="Also serve the front end of the installed google-adk, at /dev-ui/.",
)
@click.option(
    "--log-level",
    type=click.Choice(_LOG_LEVELS, case_sensitive=False),
    default="warning",
    show_default=True,
    help="How much to log.",
)
@adk_options("web")
@click.version_option(__version__, prog_name="devui")
def command(  # noqa: PLR0913, PLR0917  a parameter for each option
    agents: Path,
    host: str,
    port: int | None,
    data_dir: Path,
    no_browser: bool,
    as_json: bool,
    no_auth: bool,
    allow_remote: bool,
    allow_origins: tuple[str, ...],
    engine: EngineChoice,
    python: Path | None,
    limits: tuple[str, ...],
    debug_ports: tuple[str, ...],
    wait_for_client: bool,
    in_process: bool,
    served_by: tuple[int, int] | None,
    workers: WorkerLimits,
    adk_web: bool,
    log_level: str,
    adk: Effects,
) -> None:
    """Open the UI on the agents in AGENTS_DIR (default: the current folder).

    This is the default command: `devui agents` is `devui web agents`.
    """
    if in_process and served_by is None:
        _become_host(agents, engine)
    agents, hosted = _agents(agents, served_by)
    log_to_terminal("debug" if adk.verbose else log_level, agents)
    token = os.environ.get("DEVUI_TOKEN")
    try:
        bounds = Limits.read(limits)
        _check_origins(allow_origins, open_to_all=no_auth)
        _look_at(interpreter := Interpreter.at(python))
        debug = DebugPorts.read(debug_ports, AppFolder.at(agents).names(), wait=wait_for_client)
        _check_debugger(debug, interpreter)
        stock = front_end(interpreter) if adk_web else None
        host = check_bind(
            host, token_given=bool(token), allow_remote=allow_remote, authenticated=not no_auth
        )
        access = Access(token)
        listeners = listen(host, port)
    except (*_MISUSED, *_REFUSED) as error:
        raise _refusal(error) from error
    settings = Settings(
        agents=agents,
        data_dir=adk.data_dir or data_dir,
        host=host,
        port=listeners[0].getsockname()[1],
        auth=not no_auth,
        limits=bounds,
        debug=debug,
        engine=engine,
        python=python,
        workers=HOSTED_WORKERS if hosted else workers,
        hosted=hosted,
        create_sessions=adk.create_sessions,
        allow_origins=allow_origins,
        adk_web=stock,
    )
    announce = _announcer(settings, access.token, browser=not no_browser, as_json=as_json)
    with _storage(settings, in_memory=adk.in_memory) as settings:
        _serve(settings, access, listeners, announce)


def _refusal(error: Exception) -> click.ClickException:
    """Return the exception to exit with: status 2 for invalid options, otherwise 1."""
    kind = click.UsageError if isinstance(error, _MISUSED) else click.ClickException
    return kind(str(error))


def _become_host(agents: Path, engine: EngineChoice) -> NoReturn:
    """Run the apps in this process, which starts the server as its child (`devui.hosting`).

    Raises UsageError for options about workers, and BadParameter if there are no apps.
    """
    context = click.get_current_context()
    for name, option in _WORKER_OPTIONS.items():
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
            raise click.UsageError(
                f"{option if is_typed else f'The variable for {option}'} can't be combined with"
                " --in-process: no app has a process of its own"
            )
    agents = AppFolder.folder_of(agents)
    _check_folder(agents)
    folder = AppFolder.at(agents)
    if not folder.names():
        raise click.BadParameter(
            f"{agents} contains no apps. With --in-process, devui serves the apps that exist when"
            " it starts: add one and start devui again.",
            param_hint="AGENTS_DIR",
        )
    host = ["-P", "-m", "devui.hosting", f"--agents={folder.path}", f"--engine={engine}"]
    os.execv(sys.executable, [sys.executable, *host, "--", *sys.argv[1:]])  # noqa: S606 - ourselves


def _agents(path: Path, served_by: tuple[int, int] | None) -> tuple[Path, Hosted | None]:
    """Return the agents' folder, and its apps if another process runs them.

    Raises BadParameter if the path isn't a folder.
    """
    path = AppFolder.folder_of(path)
    _check_folder(path)
    if served_by is None:
        return path, None
    os.environ.pop(SERVED_BY, None)
    folder = AppFolder.at(path)
    return folder.path, Hosted(tuple(folder.names()), *served_by)


def _check_folder(agents: Path) -> None:
    """Raise BadParameter if the path isn't a folder."""
    if not agents.is_dir():
        more = ", nor the agent.py or root_agent.yaml of an app" if agents.is_file() else ""
        raise click.BadParameter(f"{agents} is not a folder{more}", param_hint="AGENTS_DIR")


def _check_origins(origins: tuple[str, ...], *, open_to_all: bool) -> None:
    """Raise BadHostEntry for an invalid origin, and for patterns or `*` if there is no sign-in."""
    if Origins.read(origins).names_none and open_to_all:
        raise BadHostEntry(
            "--no-auth with --allow-origins '*' or regex: would let any web page run agents."
            " Name each origin, or omit --no-auth."
        )


@contextlib.contextmanager
def _storage(settings: Settings, *, in_memory: bool) -> Iterator[Settings]:
    """Yield the settings, with a temporary data folder if sessions are to be kept in memory."""
    if not in_memory:
        yield settings
        return
    with TemporaryDirectory(prefix="devui-") as folder:
        yield replace(settings, data_dir=Path(folder))


def _serve(
    settings: Settings, access: Access, listeners: list[socket.socket], announce: Announce
) -> None:
    try:
        asyncio.run(serve(settings, access, listeners, announce))
    except (StoreError, WrongPrices) as error:
        raise click.ClickException(str(error)) from error


def _look_at(interpreter: Interpreter) -> None:
    """Print what keeps workers from running; the server starts anyway, and later workers retry."""
    try:
        if not interpreter.own:
            interpreter.check()
    except WrongPython as problem:
        click.echo(click.style(str(problem), fg="red"), err=True)


def _check_debugger(debug: DebugPorts, interpreter: Interpreter) -> None:
    """Raise WrongDebugPort, or NoDebugger if agents run in this Python and it lacks debugpy.

    If another Python lacks it, the app's page says so.
    """
    if debug.wait and not debug.by_app:
        raise WrongDebugPort("--wait-for-client needs --debug-port")
    if debug.by_app and interpreter.own and find_spec("debugpy") is None:
        raise NoDebugger(
            "--debug-port needs debugpy. Install it with `pip install 'devui[debugpy]'`"
        )


def _announcer(settings: Settings, token: str, *, browser: bool, as_json: bool) -> Announce:
    """Return a function that prints the URLs, and the token for scripts if it was generated."""
    is_drawn = settings.auth and not os.environ.get("DEVUI_TOKEN")

    def lines(link: str) -> Iterator[str]:
        yield f"devui {__version__}  {link}"
        if is_drawn:
            yield f"scripts send  Authorization: Bearer {token}"
        if settings.hosted:
            yield _IN_PROCESS
        if settings.adk_web:
            yield f"google-adk's front end, after signing in: {settings.url}/dev-ui/"

    def announce(url: str) -> None:
        if as_json:
            about = {"version": __version__, "url": settings.url, "link": url}
            click.echo(json_text({**about, "token": token if is_drawn else None}))
        else:
            click.echo("\n".join(lines(url)))
        if browser:
            # Opening a browser may block until it is closed, so it happens in its own thread.
            threading.Thread(target=_open, args=(url,), daemon=True).start()

    return announce


def _open(url: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(url)
