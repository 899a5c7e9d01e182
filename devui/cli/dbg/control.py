"""The options, output and exit status that commands to a run share."""

import sys
from typing import TYPE_CHECKING, Final

import click

from devui.cli.follow import say_after_interrupt
from devui.cli.output import event_lines, position_lines
from devui.cli.server import Terminal
from devui.failures import LEFT

if TYPE_CHECKING:
    from devui.web.panels.runs.schemas import PositionJson

_FAILURES: Final = frozenset({"failed", "interrupted"})
"""The statuses of runs that ended unintentionally."""
_FAILED: Final = 1

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
    """Print the events committed after the event `before`, and the run's position."""
    if not terminal.as_json:
        for row in terminal.client.events(position["session"], after=before):
            terminal.say(row, event_lines)
    terminal.say(position, position_lines)


def say_end(terminal: Terminal, position: "PositionJson", before: int) -> None:
    """Wait until the run is held or over, and print it as `say_where` does.

    Exits with status 1 if the run failed or was interrupted.
    """
    end = wait_for_stop(terminal, position)
    say_where(terminal, end, before)
    if end["status"] in _FAILURES:
        sys.exit(_FAILED)


def wait_for_stop(terminal: Terminal, position: "PositionJson") -> "PositionJson":
    """Wait until the run is held or over; Ctrl-C stops only the waiting and exits."""
    try:
        return terminal.client.wait(position)
    except KeyboardInterrupt:
        say_after_interrupt("detached; the run continues")
        sys.exit(LEFT)
