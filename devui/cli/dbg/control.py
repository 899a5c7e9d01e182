"""What commands to a run share: their options, and what they print until it is held or over."""

import sys
from typing import TYPE_CHECKING

import click

from devui.cli.follow import say_after_interrupt
from devui.cli.output import event_lines, position_lines
from devui.cli.server import Terminal
from devui.failures import LEFT

if TYPE_CHECKING:
    from devui.web.panels.runs.schemas import PositionJson

session_option = click.option(
    "-s", "--session", metavar="KEY", help="Session by number or id; by default the running one."
)
key_option = click.option(
    "--key", help="Idempotency key: repeating a command with the same key has no effect."
)
no_wait_option = click.option(
    "--no-wait", is_flag=True, help="Return at once instead of waiting until the run is held again."
)


def say_where(terminal: Terminal, position: "PositionJson", before: int) -> None:
    """Print what was committed behind the event `before`, and where the run stands."""
    if not terminal.as_json:
        for row in terminal.client.events(position["session"], after=before):
            terminal.say(row, event_lines)
    terminal.say(position, position_lines)


def settled(terminal: Terminal, position: "PositionJson") -> "PositionJson":
    """Wait until the run is held or over; Ctrl-C ends the waiting alone."""
    try:
        return terminal.client.wait(position)
    except KeyboardInterrupt:
        say_after_interrupt("detached; the run continues")
        sys.exit(LEFT)
