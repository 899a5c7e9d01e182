"""Finds the server that holds a data folder, and gives commands their client and their output."""

import getpass
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from devui.address import ServerAddress, read_address
from devui.cli.client import Client
from devui.cli.failures import MovedOn, NoServer
from devui.cli.lines import position_lines
from devui.keys import kept_key
from devui.settings import DEFAULT_DATA_DIR


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a command works with."""

    client: Client
    as_json: bool

    def say(self, value: Any, lines: Callable[[Any], list[str]]) -> None:
        """Print a value: a line of JSON, or lines to read."""
        for line in [json.dumps(value, ensure_ascii=False)] if self.as_json else lines(value):
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

        The token goes before DEVUI_TOKEN, and that before the key of the folder. Raises NoServer.
        """
        actor = self.actor or f"terminal ({getpass.getuser()})"
        token = self.token or os.environ.get("DEVUI_TOKEN")
        if self.url is not None:
            return Terminal(Client(self.url.rstrip("/"), token or "", actor), self.as_json)
        address = running(self.data_dir)
        if address is None:
            raise NoServer(_nobody(self.data_dir))
        token = token or kept_key(self.data_dir, address.pid)
        return Terminal(Client(address.url, token, actor), self.as_json)


def reaching(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that lead to a server, and a `Reach` as first argument."""

    @wraps(function)
    def command(
        *,
        data_dir: Path,
        url: str | None,
        token: str | None,
        actor: str | None,
        as_json: bool,
        **given: Any,
    ) -> None:
        reach = Reach(data_dir=data_dir, url=url, token=token, actor=actor, as_json=as_json)
        function(reach, **given)

    found: Callable[..., None] = command
    for option in reversed(_OPTIONS):
        found = option(found)
    return found


def on_the_server(function: Callable[..., None]) -> Callable[..., None]:
    """The same with a `Terminal`; a 409 that tells where the run stands is printed with it."""

    @wraps(function)
    def command(reach: Reach, **given: Any) -> None:
        terminal = reach.terminal()
        try:
            function(terminal, **given)
        except MovedOn as moved:
            if moved.position is not None:
                terminal.say(moved.position, position_lines)
            raise

    return reaching(command)


def running(data_dir: Path) -> ServerAddress | None:
    """Where the folder's server is; None without one, or one that was killed or only begins."""
    address = read_address(data_dir)
    return None if address is None or address.gone or not address.url else address


def _nobody(data_dir: Path) -> str:
    address = read_address(data_dir)
    if address is not None and not address.gone:
        return f"the server of {str(data_dir)!r} (process {address.pid}) is starting; try again"
    left = f": process {address.pid} left its address there and is gone" if address else ""
    return (
        f"no server runs on the data folder {str(data_dir)!r}{left}. Start one there with"
        " `devui AGENTS_DIR`, or name another with --data-dir or --url"
    )


_OPTIONS = (
    click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=DEFAULT_DATA_DIR,
        show_default=True,
        help="Folder whose server is meant.",
    ),
    click.option("--url", metavar="URL", help="Address of the server, instead of the folder's."),
    click.option(
        "--token", metavar="TOKEN", help="Bearer token, instead of DEVUI_TOKEN or the folder's."
    ),
    click.option("--as", "actor", metavar="NAME", help="Name that others see; yours if not given."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON, one value a line."),
)
