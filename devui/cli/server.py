"""The server that a command talks to: the data folder's, or one that the command starts."""

import getpass
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    """A command's client and output format."""

    client: Client
    as_json: bool

    def say(self, value: Any, lines: Callable[[Any], Iterable[str]]) -> None:
        """Print a value as a line of JSON, or as readable lines."""
        for line in [json_text(value)] if self.as_json else lines(value):
            click.echo(line)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """The options that lead to a server."""

    data_dir: Path
    url: str | None
    token: str | None
    actor: str | None
    as_json: bool

    @property
    def alone(self) -> bool:
        """Whether the data folder has no running server and no other server is named."""
        return self.url is None and address_of(self.data_dir) is None

    def terminal(self) -> Terminal:
        """Return a client of the server at `url`, or else of the data folder's server.

        `token` takes precedence over DEVUI_TOKEN, and that over the folder's key. Raises
        UnavailableError if no server is running.
        """
        actor = self.actor or f"terminal ({getpass.getuser()})"
        token = self.token or os.environ.get("DEVUI_TOKEN")
        if self.url is not None:
            return Terminal(Client(self.url.rstrip("/"), token or "", actor), self.as_json)
        address = address_of(self.data_dir)
        if address is None:
            raise UnavailableError(_nobody(self.data_dir))
        token = token or kept_key(self.data_dir, address.pid)
        return Terminal(Client(address.url, token, actor), self.as_json)


def server_options(
    function: Callable[..., None], *, json_option: Option = json_option
) -> Callable[..., None]:
    """Add the options that lead to a server; the command gets them as its first argument."""

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
        server = ServerOptions(
            data_dir=data_dir, url=url, token=token, actor=actor, as_json=as_json
        )
        function(server, **options)

    wrapper: Callable[..., None] = command
    for option in reversed((*_OPTIONS, json_option)):
        wrapper = option(wrapper)
    return wrapper


def on_the_server(function: Callable[..., None]) -> Callable[..., None]:
    """Add the same options; the command gets a `Terminal` as its first argument.

    If a conflict (409) has the run's position, print it.
    """

    @wraps(function)
    def command(server: ServerOptions, **options: Any) -> None:
        terminal = server.terminal()
        try:
            function(terminal, **options)
        except ConflictError as conflict:
            if conflict.position is not None:
                terminal.say(conflict.position, position_lines)
            raise

    return server_options(command)


def address_of(data_dir: Path) -> ServerAddress | None:
    """Return the address of the folder's server; None if it isn't running or is still starting."""
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
"""The option for the folder that a new server serves."""


@contextmanager
def serving(
    server: ServerOptions, agents: Path, *, anew: bool = False, options: Sequence[str] = ()
) -> Iterator[Terminal]:
    """Yield a client of the running server, or of a new one that is stopped afterwards.

    `options` are additional options of `devui web`, for a new server.

    Raises UnavailableError if the new server doesn't start, or if the data folder doesn't exist and
    may not be created (`anew`).
    """
    if not server.alone:
        yield server.terminal()
        return
    if not (anew or server.data_dir.exists()):
        raise UnavailableError(
            f"no server is running, and there is no data folder {str(server.data_dir)!r}; name the"
            " data folder with --data-dir"
        )
    with _server(agents, server.data_dir, options):
        yield server.terminal()


@contextmanager
def _server(agents: Path, data_dir: Path, options: Sequence[str]) -> Iterator[None]:
    """Run a server for the agents on the data folder, without a browser, inside the block.

    Raises UnavailableError with the server's error output if it doesn't start.
    """
    command = [sys.executable, "-m", "devui", "web", str(agents), "--no-browser", "--port", "0"]
    process = subprocess.Popen(  # noqa: S603 - ourselves, with folders as arguments
        [*command, "--data-dir", str(data_dir), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that only we get Ctrl-C, and stop it cleanly
    )
    try:
        if not (process.stdout and process.stdout.readline()) or address_of(data_dir) is None:
            _, errors = process.communicate(timeout=_SECONDS_TO_END)
            raise UnavailableError(
                f"no server is running on {str(data_dir)!r}, and starting one failed: {errors}"
            )
        yield
    finally:
        process.terminate()
        process.communicate(timeout=_SECONDS_TO_END)
