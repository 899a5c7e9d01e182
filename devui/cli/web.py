"""`devui web`, or `devui` alone: opens the UI on a folder of agents."""

import asyncio
import contextlib
import os
import threading
import webbrowser
from pathlib import Path
from typing import Literal

import click

from devui import __version__
from devui.cli.listening import listen
from devui.cli.logs import log_to_terminal
from devui.debugger.prices import WrongPrices
from devui.settings import (
    DEFAULT_DATA_DIR,
    DEFAULT_HOST,
    DEFAULT_PORT,
    Limits,
    Settings,
    WrongLimit,
)
from devui.store.errors import StoreError
from devui.web.program import Announce, serve
from devui.web.security.access import Access, WeakToken
from devui.web.security.hosts import BindRefused, check_bind

_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")


@click.command("web", short_help="Open the UI; this name may be left out.")
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
    "--limit",
    "limits",
    metavar="NAME=N",
    multiple=True,
    help="End a run at so many events, calls (of tools), megabytes or seconds; or runs at once.",
)
@click.option(
    "--log-level",
    type=click.Choice(_LOG_LEVELS, case_sensitive=False),
    default="warning",
    show_default=True,
    help="How much to log.",
)
@click.version_option(__version__, prog_name="devui")
def command(
    agents: Path,
    host: str,
    port: int | None,
    data_dir: Path,
    no_browser: bool,
    no_auth: bool,
    allow_remote: bool,
    limits: tuple[str, ...],
    log_level: str,
) -> None:
    """Open the UI on the agents in AGENTS_DIR; the name `web` may be left out."""
    log_to_terminal(log_level, agents)
    token = os.environ.get("DEVUI_TOKEN")
    if not agents.is_dir():
        raise click.BadParameter(f"{agents} is not a folder", param_hint="AGENTS_DIR")
    try:
        allowed = Limits.read(limits)
        host = check_bind(
            host, token_given=bool(token), allow_remote=allow_remote, authenticated=not no_auth
        )
        access = Access(token)
        listeners = listen(host, port)
    except (BindRefused, WeakToken, WrongLimit, OSError) as error:
        raise click.ClickException(str(error)) from error
    port = listeners[0].getsockname()[1]
    settings = Settings(
        agents=agents, data_dir=data_dir, host=host, port=port, auth=not no_auth, limits=allowed
    )
    announce = _announcer(browser=not no_browser, bearer=not (no_auth or token) and access.token)
    try:
        asyncio.run(serve(settings, access, listeners, announce))
    except (StoreError, WrongPrices) as error:
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


def _open(url: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(url)
