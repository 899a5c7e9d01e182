"""Orders to a run from the terminal: sent once, and followed until the run is held or over."""

import sys
import uuid
from typing import Any, Final, Literal

import click

from devui.cli.failures import LEFT
from devui.cli.finding import Terminal
from devui.cli.following import left, newest_number
from devui.cli.lines import event_lines, position_lines

_GOING: Final = frozenset({"running", "stopping"})

session_option = click.option(
    "-s", "--session", metavar="KEY", help="Number or id; the one that runs."
)
key_option = click.option("--key", help="The same key again changes nothing.")
no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Do not wait until the run is held again."
)


def send(
    terminal: Terminal,
    at: dict[str, Any],
    where: Literal["commands", "calls"],
    *,
    wait: bool,
    **order: Any,
) -> None:
    """Give an order to the run of a position.

    Prints what was committed since, and where the run then stands.
    """
    client = terminal.client
    before = newest_number(client, at["session"])
    order["key"] = order.get("key") or uuid.uuid4().hex
    position = client.post("api", "runs", at["run"], where, actor=client.actor, **order)
    if wait:
        position = settled(terminal, position)
    say_where(terminal, position, before)


def say_where(terminal: Terminal, position: dict[str, Any], before: int) -> None:
    """Print what was committed behind the event `before`, and where the run stands."""
    if not terminal.as_json:
        path = ("api", "sessions", position["session"], "events")
        for row in terminal.client.listed(*path, after=before):
            terminal.say(row, event_lines)
    terminal.say(position, position_lines)


def settled(terminal: Terminal, position: dict[str, Any]) -> dict[str, Any]:
    """Wait until the run is held or over; Ctrl-C ends the waiting alone."""
    path = ("api", "runs", position["run"])
    try:
        while position["status"] in _GOING:
            position = terminal.client.get(*path, after=position["position"])
    except KeyboardInterrupt:
        left("left; the run goes on without you")
        sys.exit(LEFT)
    return position
