"""`devui prune`: deletes sessions that haven't been used for a long time."""

from pathlib import Path
from typing import Any

import click

from devui.cli.output import plain
from devui.cli.server import ServerOptions, agents_option, server_options, serving
from devui.web.text.formats import day

_EXAMPLES = """\b
Examples:
  devui prune --days 90              list sessions unused for 90 days
  devui prune --days 90 --yes        delete them
  devui prune --days 7 --app travel  list those of one app

Sessions with a star, a note, a tag or an active run are never deleted. To keep a copy, run
`devui backup` or `devui export` first.
"""


@click.command("prune", epilog=_EXAMPLES, short_help="Delete unused sessions.")
@click.option(
    "--days",
    type=click.FloatRange(min=0, max=36_500),
    required=True,
    help="Minimum number of days without use.",
)
@click.option("--app", metavar="NAME", help="Only sessions of this app.")
@click.option("--yes", "confirm", is_flag=True, help="Delete them instead of listing them.")
@agents_option
@server_options
def command(
    server: ServerOptions, *, days: float, app: str | None, confirm: bool, agents: Path
) -> None:
    """List sessions unused for a number of days, or delete them with everything in them."""
    with serving(server, agents) as terminal:
        answer = terminal.client.prune_sessions(days, app=app, confirm=confirm)
        terminal.say(answer, _lines)


def _lines(answer: dict[str, Any]) -> list[str]:
    sessions = answer["sessions"]
    count = "1 session" if len(sessions) == 1 else f"{len(sessions):,} sessions"
    if not sessions:
        return ["no unused sessions"]
    if answer["deleted"]:
        return [f"deleted {count}; the journal reuses their space"]
    return [*map(_line, sessions), f"{count}; add --yes to delete them"]


def _line(row: dict[str, Any]) -> str:
    title = f" “{plain(row['title'])}”" if row["title"] else ""
    last = day(row["updated"])
    return f"session {row['key']}{title} of {plain(row['app'])}, {row['events']:,} events, {last}"
