"""`devui dbg sessions`, `runs`, `log`, `events`, `event`: lists sessions and what happened."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from devui.cli.dbg.control import session_option
from devui.cli.lookup import session_of
from devui.cli.output import event_lines, output_lines, plain, session_lines
from devui.cli.server import Terminal, on_the_server
from devui.web.text.deceptive_characters import visible


@click.command("sessions")
@click.option("--app", metavar="NAME", help="Only sessions of this app.")
@click.option("--tag", metavar="NAME", help="Only sessions with this tag.")
@on_the_server
def sessions(terminal: Terminal, app: str | None, tag: str | None) -> None:
    """List sessions, the most recently active first."""
    rows = terminal.client.sessions(app=app, tag=tag)["sessions"]
    _say_each(terminal, rows, session_lines, "no sessions")


@click.command("runs")
@session_option
@on_the_server
def runs(terminal: Terminal, session: str | None) -> None:
    """List the runs of the session, the oldest first, and why they failed."""
    row = session_of(terminal.client, session)
    rows = terminal.client.runs(row["key"])
    _say_each(terminal, rows, _run_lines, "no runs")


@click.command("log")
@click.option("--run", metavar="ID", help="Run whose output to list; by default the newest.")
@click.option("--after", type=int, metavar="NUMBER", help="Only lines after this one.")
@click.option("--last", type=click.IntRange(1), default=200, show_default=True, help="At most.")
@session_option
@on_the_server
def log(
    terminal: Terminal, run: str | None, after: int | None, last: int, session: str | None
) -> None:
    """List what a run printed and logged: the last lines, or with --after the first after one."""
    client = terminal.client
    run = run or client.newest_run(session_of(client, session)["key"])["run"]
    most = {"last": last} if after is None else {"after": after, "limit": last}
    _say_each(terminal, client.log(run, **most), output_lines, "no output")


@click.command("events")
@click.option(
    "--filter", "expression", metavar="FILTER", help="Only events that match this filter."
)
@click.option("--after", type=int, metavar="NUMBER", help="Only events after this one.")
@click.option("--last", type=click.IntRange(1), default=200, show_default=True, help="At most.")
@session_option
@on_the_server
def events(
    terminal: Terminal, expression: str | None, after: int | None, last: int, session: str | None
) -> None:
    """List the events of the session: the last ones, or with --after the first after one."""
    row = session_of(terminal.client, session)
    most = {"last": last} if after is None else {"after": after, "limit": last}
    rows = terminal.client.events(row["key"], filter=expression, **most)
    _say_each(terminal, rows, event_lines, "no events")


@click.command("event")
@click.argument("number", type=int)
@session_option
@on_the_server
def event(terminal: Terminal, number: int, session: str | None) -> None:
    """Show event NUMBER in full, as JSON."""
    row = session_of(terminal.client, session)
    terminal.say(terminal.client.event(row["key"], number), _document)


def _say_each(terminal: Terminal, rows: Sequence[Any], lines: Any, without: str) -> None:
    """Print each row; if there are none, print `without`, except with `--json`."""
    for row in rows:
        terminal.say(row, lines)
    if not (rows or terminal.as_json):
        click.echo(without)


def _run_lines(run: Mapping[str, Any]) -> Iterable[str]:
    where = f"#{run['first']} to #{run['last']}" if run["first"] else "no events"
    yield f"{run['run']}  {run['status']}  {where}"
    if error := run["error"]:
        words = ": ".join(filter(None, (error["type"], error["message"])))
        place = f"  {error['file']}:{error['line']}" if error.get("file") else ""
        yield click.style(f"      {plain(words)}{plain(place)}", fg="red")


def _document(value: Any) -> list[str]:
    return visible(json.dumps(value, ensure_ascii=False, indent=2)).splitlines()
