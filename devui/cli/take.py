"""`devui import`: a session out of a file, to be read and forked."""

from pathlib import Path
from typing import Any

import click

from devui.cli.failures import Misused
from devui.cli.finding import Reach, reaching
from devui.cli.headless import agents_option, served
from devui.cli.lines import plain

_EXAMPLES = """\b
Examples:
  devui import trip.json                   into the app that the session is of
  devui import trip.json --app travel      into another one

Nothing in the file is run. The session is read only: a fork of it goes on.
"""


@click.command("import", epilog=_EXAMPLES, short_help="Read a session from a file.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--app", metavar="NAME", help="App that it goes to, instead of its own.")
@agents_option
@reaching
def command(reach: Reach, file: Path, *, app: str | None, agents: Path) -> None:
    """Make a session of FILE, which `devui export` wrote; all of it, or nothing."""
    alone = reach.alone
    with served(reach, agents, anew=True) as terminal:
        try:
            with file.open("rb") as opened:
                made = terminal.client.upload(opened, "api", "sessions", "import", app=app)
        except OSError as error:
            raise Misused(f"{str(file)!r} cannot be read: {error.strerror}") from error
        url = None if alone else f"{terminal.client.url}/sessions/{made['key']}"
        terminal.say({**made, "url": url}, _lines)


def _lines(made: dict[str, Any]) -> list[str]:
    title = f" “{plain(made['title'])}”" if made["title"] else ""
    aside = made.get("setAside")
    members = f"unknown member{'' if aside == 1 else 's'} set aside"
    return [
        f"session {made['key']}{title} of {plain(made['app'])}, {made['events']} events, read only"
        + (f", {aside:,} {members}" if aside else ""),
        *([made["url"]] if made["url"] else []),
    ]
