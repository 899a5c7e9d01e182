"""`devui compare`: two sessions or runs beside each other, in the terminal and in scripts."""

import re
import sys
from typing import Any, Final

import click

from devui.cli.client import Client
from devui.cli.compare_lines import comparison_lines, events_lines
from devui.cli.failures import Failed, NotThere
from devui.cli.finding import Terminal, on_the_server
from devui.cli.naming import session_of

DIFFERING: Final = 1
"""The exit status when the two differ, as diff has it."""
_NUMBERED: Final = re.compile(r"\d+(@\d+)?", re.ASCII)
_PAGE: Final = 1000

_EXAMPLES = """\b
Examples:
  devui compare 12 15         two sessions
  devui compare 12@1 12@2     the first and the second run of session 12
  devui compare 12 15 --json  aligned, for a script

Ends with 0 when nothing differs, 1 when something does; 2 wrong usage or an error of the
server, 3 no server, 4 wrong token, 5 no such session or run.
"""


class Trouble(Failed):
    """What would end with 1 elsewhere, which here says that the two differ."""

    exit_code = 2


@click.command("compare", epilog=_EXAMPLES, short_help="Tell how two sessions or runs differ.")
@click.argument("left")
@click.argument("right")
@click.option("--values", is_flag=True, help="What differs in each row, not in the first alone.")
@on_the_server
def command(terminal: Terminal, left: str, right: str, *, values: bool) -> None:
    """Compare LEFT with RIGHT: sessions by their number or id, or runs of them as 12@2.

    Events are aligned by what they are, not by their number. Ids, times and counts of tokens do not
    count, nor does the order in which parallel branches were committed.
    """
    try:
        told = _compared(terminal, left, right, values=values)
    except Failed as error:
        if error.exit_code == DIFFERING:
            raise Trouble(error.message) from error
        raise
    if not told["equal"]:
        sys.exit(DIFFERING)


def _compared(terminal: Terminal, left: str, right: str, *, values: bool) -> dict[str, Any]:
    client = terminal.client
    sides = {"left": _side(client, left), "right": _side(client, right)}
    told: dict[str, Any] = client.get("api", "compare", **sides)
    if terminal.as_json:
        terminal.say(told, lambda _: [])
        return told
    events = [_events(client, told[name]) for name in sides]
    wanted = [row for row in told["rows"] if row["differs"]] if values else [told["first"]]
    details = {
        (row["left"], row["right"]): events_lines(_pair(client, sides, row))
        for row in wanted
        if row
    }
    terminal.say(told, lambda value: comparison_lines(value, *events, details=details))
    return told


def _side(client: Client, text: str) -> str:
    """The name of a side as the server takes it; an id may hold an @ itself."""
    if _NUMBERED.fullmatch(text):
        return text
    try:
        return str(session_of(client, text)["key"])
    except NotThere:
        session, at, place = text.rpartition("@")
        if not at or not place.isdigit():
            raise
        return f"{session_of(client, session)['key']}@{place}"


def _events(client: Client, side: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The events of the session by number."""
    rows: list[dict[str, Any]] = []
    while True:
        after = rows[-1]["number"] if rows else None
        page = client.listed(
            *("api", "sessions", side["session"], "events"), after=after, limit=_PAGE
        )
        rows += page
        if len(page) < _PAGE:
            return {row["number"]: row for row in rows}


def _pair(client: Client, sides: dict[str, str], row: dict[str, Any]) -> Any:
    left, right = row["left"] or row["elsewhere"], row["right"] or row["elsewhere"]
    return client.get("api", "compare", "events", **sides, leftEvent=left, rightEvent=right)
