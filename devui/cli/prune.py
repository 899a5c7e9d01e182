"""`devui prune`: deletes sessions that nobody has used for long."""

from pathlib import Path
from typing import Any

import click

from devui.cli.finding import Reach, reaching
from devui.cli.headless import agents_option, served
from devui.cli.lines import plain
from devui.web.text.formats import day

_EXAMPLES = """\b
Examples:
  devui prune --days 90              what nothing was done in for 90 days
  devui prune --days 90 --yes        delete that
  devui prune --days 7 --app travel  of one app

Sessions with a star or a note stay, and those with a run that goes on. `devui backup` first, or
`devui export`, keeps what is deleted here.
"""


@click.command("prune", epilog=_EXAMPLES, short_help="Delete sessions not used for long.")
@click.option(
    "--days",
    type=click.FloatRange(min=0, max=36_500),
    required=True,
    help="For so many days nothing was done in them.",
)
@click.option("--app", metavar="NAME", help="Of this app alone.")
@click.option("--yes", "sure", is_flag=True, help="Delete them; else they are listed only.")
@agents_option
@reaching
def command(reach: Reach, *, days: float, app: str | None, sure: bool, agents: Path) -> None:
    """List sessions that are unused for some days, or delete them with all they hold."""
    with served(reach, agents) as terminal:
        told = terminal.client.post("api", "sessions", "prune", days=days, app=app, sure=sure)
        terminal.say(told, _lines)


def _lines(told: dict[str, Any]) -> list[str]:
    sessions = told["sessions"]
    count = "1 session" if len(sessions) == 1 else f"{len(sessions):,} sessions"
    if not sessions:
        return ["no session is unused for so long"]
    if told["deleted"]:
        return [f"{count} deleted; what is kept next takes their room in the journal"]
    return [*map(_line, sessions), f"{count}; --yes deletes them"]


def _line(row: dict[str, Any]) -> str:
    title = f" “{plain(row['title'])}”" if row["title"] else ""
    last = day(row["updated"])
    return f"session {row['key']}{title} of {plain(row['app'])}, {row['events']:,} events, {last}"
