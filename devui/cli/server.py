"""The server that a command talks to: the one that holds the data folder, or one of its own."""

import getpass
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from devui.address import ServerAddress, read_address
from devui.cli.options import json_option, json_text
from devui.cli.output import position_lines
from devui.client import Client
from devui.failures import ConflictError, UnavailableError
from devui.keys import kept_key
from devui.settings import DEFAULT_DATA_DIR

Option = Callable[[Callable[..., None]], Callable[..., None]]


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a command works with."""

    client: Client
    as_json: bool

    def say(self, value: Any, lines: Callable[[Any], list[str]]) -> None:
        """Print a value: a line of JSON, or lines to read."""
        for line in [json_text(value)] if self.as_json else lines(value):
            click.echo(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What the options say about the server."""

    data_dir: Path
    url: str | None
    token: str | None
    actor: str | None
    as_json: bool

    @property
    def alone(self) -> bool:
        """No server runs on the data folder, and no other one is named."""
        return self.url is None and running(self.data_dir) is None

    def terminal(self) -> Terminal:
        """The client of the server at the address, else of the one that holds the data folder.

        The token goes before DEVUI_TOKEN, and that before the key of the folder. Raises
        UnavailableError.
        """
        actor = self.actor or f"terminal ({getpass.getuser()})"
        token = self.token or os.environ.get("DEVUI_TOKEN")
        if self.url is not None:
            return Terminal(Client(self.url.rstrip("/"), token or "", actor), self.as_json)
        address = running(self.data_dir)
        if address is None:
            raise UnavailableError(_nobody(self.data_dir))
        token = token or kept_key(self.data_dir, address.pid)
        return Terminal(Client(address.url, token, actor), self.as_json)


def reaching(
    function: Callable[..., None], *, json_option: Option = json_option
) -> Callable[..., None]:
    """Give a command the options that lead to a server, and a `Reach` as first argument."""

    @wraps(function)
    def command(
        *,
        data_dir: Path,
        url: str | None,
        token: str | None,
        actor: str | None,
        as_json: bool,
        **options: Any,
    ) -> None:
        reach = Reach(data_dir=data_dir, url=url, token=token, actor=actor, as_json=as_json)
        function(reach, **options)

    wrapper: Callable[..., None] = command
    for option in reversed((*_OPTIONS, json_option)):
        wrapper = option(wrapper)
    return wrapper


def on_the_server(function: Callable[..., None]) -> Callable[..., None]:
    """The same with a `Terminal`; a 409 that tells where the run stands is printed with it."""

    @wraps(function)
    def command(reach: Reach, **options: Any) -> None:
        terminal = reach.terminal()
        try:
            function(terminal, **options)
        except ConflictError as conflict:
            if conflict.position is not None:
                terminal.say(conflict.position, position_lines)
            raise

    return reaching(command)


def running(data_dir: Path) -> ServerAddress | None:
    """Where the folder's server is; None without one, or one that was killed or only begins."""
    address = read_address(data_dir)
    return None if address is None or address.is_gone or not address.url else address


def _nobody(data_dir: Path) -> str:
    address = read_address(data_dir)
    if address is not None and not address.is_gone:
        return f"the server of {str(data_dir)!r} (process {address.pid}) is starting; try again"
    detail = f": process {address.pid} was the last one and has exited" if address else ""
    return (
        f"no server is running on the data folder {str(data_dir)!r}{detail}. Start one there with"
        " `devui AGENTS_DIR`, or name another with --data-dir or --url"
    )


_OPTIONS = (
    click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=DEFAULT_DATA_DIR,
        show_default=True,
        help="Use the server on this data folder.",
    ),
    click.option("--url", metavar="URL", help="Use the server at this URL instead."),
    click.option("--token", metavar="TOKEN", help="Bearer token; overrides DEVUI_TOKEN."),
    click.option(
        "--as", "actor", metavar="NAME", help="Name shown to others; by default your user name."
    ),
)


_SECONDS_TO_END = 20

agents_option = click.option(
    "--agents",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    show_default=True,
    help="Folder of the agents, if a server has to be started.",
)
"""What such a server serves."""


@contextmanager
def serving(
    reach: Reach, agents: Path, *, anew: bool = False, options: Sequence[str] = ()
) -> Iterator[Terminal]:
    """The server that is meant, or if none runs one of its own until the block is left.

    `options` are more of those that `devui web` takes, for a server of its own.

    Raises UnavailableError if none comes up, and without a data folder, unless one may be made
    `anew`.
    """
    if not reach.alone:
        yield reach.terminal()
        return
    if not (anew or reach.data_dir.exists()):
        raise UnavailableError(
            f"no server is running, and there is no data folder {str(reach.data_dir)!r}; name the"
            " data folder with --data-dir"
        )
    with _server(agents, reach.data_dir, options):
        yield reach.terminal()


@contextmanager
def _server(agents: Path, data_dir: Path, options: Sequence[str]) -> Iterator[None]:
    """Serve the agents on the data folder, without a browser, until the block is left.

    Raises UnavailableError with what the server said if it does not come up.
    """
    command = [sys.executable, "-m", "devui", "web", str(agents), "--no-browser", "--port", "0"]
    process = subprocess.Popen(  # noqa: S603 - ourselves, with folders as arguments
        [*command, "--data-dir", str(data_dir), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for us, who end it in order
    )
    try:
        if not (process.stdout and process.stdout.readline()) or running(data_dir) is None:
            _, errors = process.communicate(timeout=_SECONDS_TO_END)
            raise UnavailableError(
                f"no server is running on {str(data_dir)!r}, and starting one failed: {errors}"
            )
        yield
    finally:
        process.terminate()
        process.communicate(timeout=_SECONDS_TO_END)
