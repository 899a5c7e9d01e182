"""A server of its own for one command, where none runs on the data folder."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from devui.cli.failures import NoServer
from devui.cli.finding import Reach, Terminal, running

_SECONDS_TO_END = 20

agents_option = click.option(
    "--agents",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    show_default=True,
    help="Folder of the agents, for a server of its own if none runs.",
)
"""What such a server serves."""


@contextmanager
def served(reach: Reach, agents: Path, *, anew: bool = False) -> Iterator[Terminal]:
    """The server that is meant, or if none runs one of its own until the block is left.

    Raises NoServer if none comes up, and without a data folder, unless one may be made `anew`.
    """
    if not reach.alone:
        yield reach.terminal()
        return
    if not (anew or reach.data_dir.exists()):
        raise NoServer(f"no server runs, and there is no data folder {str(reach.data_dir)!r}")
    with _server(agents, reach.data_dir):
        yield reach.terminal()


@contextmanager
def _server(agents: Path, data_dir: Path) -> Iterator[None]:
    """Serve the agents on the data folder, without a browser, until the block is left.

    Raises NoServer with what the server said if it does not come up.
    """
    command = [sys.executable, "-m", "devui", "web", str(agents), "--no-browser", "--port", "0"]
    process = subprocess.Popen(  # noqa: S603 - ourselves, with folders as arguments
        [*command, "--data-dir", str(data_dir)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for us, who end it in order
    )
    try:
        if not (process.stdout and process.stdout.readline()) or running(data_dir) is None:
            _, said = process.communicate(timeout=_SECONDS_TO_END)
            raise NoServer(
                f"no server runs on {str(data_dir)!r}, and none could be started: {said}"
            )
        yield
    finally:
        process.terminate()
        process.communicate(timeout=_SECONDS_TO_END)
