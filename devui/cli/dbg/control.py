"""Commands to a run from the terminal: sent once, and followed until the run is held or over."""

import sys
import uuid
from typing import Any, Literal

import click

from devui.cli.follow import newest_number, say_after_interrupt
from devui.cli.output import event_lines, position_lines
from devui.cli.server import Terminal
from devui.failures import LEFT

session_option = click.option(
    "-s", "--session", metavar="KEY", help="Session by number or id; by default the running one."
)
key_option = click.option(
    "--key", help="Idempotency key: repeating a command with the same key has no effect."
)
no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Return at once instead of waiting until the run is held again."
)


def send(
    terminal: Terminal,
    at: dict[str, Any],
    where: Literal["commands", "calls"],
    *,
    wait: bool,
    **command: Any,
) -> None:
    """Send a command to the run of a position.

    Prints what was committed since, and where the run then stands.
    """
    client = terminal.client
    before = newest_number(client, at["session"])
    command["key"] = command.get("key") or uuid.uuid4().hex
    position = client.post("api", "runs", at["run"], where, actor=client.actor, **command)
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
    try:
        return terminal.client.settled(position)
    except KeyboardInterrupt:
        say_after_interrupt("detached; the run continues")
        sys.exit(LEFT)
