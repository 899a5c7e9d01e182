"""The `devui` command."""

import asyncio
import contextlib
import errno
import logging
import os
import socket
import threading
import webbrowser
from pathlib import Path
from typing import Literal

import click

from devui import __version__
from devui.settings import DEFAULT_DATA_DIR, DEFAULT_HOST, DEFAULT_PORT, Settings
from devui.store.errors import StoreError
from devui.web.access import Access, WeakToken
from devui.web.hosts import BindRefused, check_bind
from devui.web.program import Announce, serve

_PORTS_TRIED = 50
_BACKLOG = 128
_ABOUT_THE_PORT = {errno.EADDRINUSE, errno.EACCES}
_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")

_EXAMPLES = """\b
Examples:
  devui agents               open the UI on every app in ./agents
  devui agents/travel        just this one
  devui --port 9000          another port
  devui --no-browser         print the link only
"""


@click.command(epilog=_EXAMPLES)
@click.argument("agents", metavar="[AGENTS_DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--host", default=DEFAULT_HOST, show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on; {DEFAULT_PORT} or the next free one if not given, 0 for any.",
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT_DATA_DIR,
    show_default=True,
    help="Where sessions are kept.",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--no-auth", is_flag=True, help="No sign-in; on a loopback address only.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Listen on an address others can reach; needs DEVUI_TOKEN to be set.",
)
@click.option(
    "--log-level",
    type=click.Choice(_LOG_LEVELS, case_sensitive=False),
    default="warning",
    show_default=True,
    help="How much to log.",
)
@click.version_option(__version__, prog_name="devui")
def main(
    agents: Path,
    host: str,
    port: int | None,
    data_dir: Path,
    no_browser: bool,
    no_auth: bool,
    allow_remote: bool,
    log_level: str,
) -> None:
    """Open the dev UI on the agents in AGENTS_DIR (here if not given).

    Each app is a folder with an agent.py that defines `root_agent` or `app`. Sessions and all
    their events are kept in the data folder. For scripts, DEVUI_TOKEN sets the bearer token.
    """
    logging.basicConfig(level=log_level.upper(), format="%(levelname)s %(name)s: %(message)s")
    token = os.environ.get("DEVUI_TOKEN")
    if not agents.is_dir():
        raise click.BadParameter(f"{agents} is not a folder", param_hint="AGENTS_DIR")
    try:
        host = check_bind(
            host, token_given=bool(token), allow_remote=allow_remote, authenticated=not no_auth
        )
        access = Access(token)
        listeners = _listen(host, port)
    except (BindRefused, WeakToken, OSError) as error:
        raise click.ClickException(str(error)) from error
    port = listeners[0].getsockname()[1]
    settings = Settings(agents=agents, data_dir=data_dir, host=host, port=port, auth=not no_auth)
    announce = _announcer(browser=not no_browser, bearer=not (no_auth or token) and access.token)
    try:
        asyncio.run(serve(settings, access, listeners, announce))
    except StoreError as error:
        raise click.ClickException(str(error)) from error


def _announcer(*, browser: bool, bearer: str | Literal[False]) -> Announce:
    """Tells the address, and how scripts get in with the token that was drawn."""

    def announce(url: str) -> None:
        click.echo(f"devui {__version__}  {url}")
        if bearer:
            click.echo(f"scripts send  Authorization: Bearer {bearer}")
        if browser:
            # A browser may block its opener until it is closed, so it gets a thread of its own.
            threading.Thread(target=_open, args=(url,), daemon=True).start()

    return announce


def _listen(host: str, port: int | None) -> list[socket.socket]:
    """Listening sockets on the port asked for, or on the first free one from the default on."""
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED) if port is None else [port]
    for candidate in ports:
        try:
            return _bound(host, candidate)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            option = "--port" if error.errno in _ABOUT_THE_PORT else "--host"
            raise OSError(
                f"cannot listen on {host}:{candidate}: {error.strerror}; choose another {option}"
            ) from error
    raise OSError(f"no free port between {ports[0]} and {ports[-1]} on {host}")


def _bound(host: str, port: int) -> list[socket.socket]:
    """A socket on the address; loopback also on its IPv6 twin, so that `localhost` is ours alone.

    Raises OSError when the port is taken on either.
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
    # Not socket.create_server: it leaves the protocol at 0, and asyncio turns Nagle's algorithm off
    # only for sockets that say they are TCP. With it, the pieces of a stream wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _has_ipv6_loopback() -> bool:
    """Whether the system has the address ::1 at all."""
    try:
        _socket(socket.AF_INET6, "::1", 0).close()
    except OSError:
        return False
    return True


def _open(url: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(url)
