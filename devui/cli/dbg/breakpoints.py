"""`devui dbg break`: manages an app's breakpoints in the terminal."""

from typing import TYPE_CHECKING, Any

import click

from devui.cli.lookup import app_of, apps_of
from devui.cli.output import breakpoint_lines
from devui.cli.server import Terminal, on_the_server
from devui.client import Client
from devui.failures import NotFoundError

if TYPE_CHECKING:
    from devui.web.panels.breakpoints.api import BreakpointJson

_app = click.option(
    "--app",
    metavar="NAME",
    help="App of the breakpoint; by default the session's, or the only one.",
)
_session = click.option("-s", "--session", metavar="KEY", help="Session whose app to use.")
_number = click.argument("number", type=int)
_user = click.option("--user", metavar="NAME", help="Only for this user's sessions.")


@click.group("break")
def break_group() -> None:
    """Add, list, edit, enable, disable and delete the breakpoints of an app."""


@break_group.command()
@click.argument("place", metavar="ON[:NAME]")
@click.option(
    "--if", "condition", metavar="EXPR", default="", help="Break only if this expression is true."
)
@click.option(
    "--agent", metavar="NAME", default="*", help="Break only in this agent; * matches anything."
)
@click.option(
    "--after", is_flag=True, help="Break after the commit, call or agent instead of before."
)
@click.option(
    "--hits",
    "hit",
    metavar="TIMES",
    default="",
    help="Break only on these hits of a run: '== 3', '>= 3', '% 3'.",
)
@click.option("--log", default="", help="Log this line instead of breaking; {…} is filled in.")
@click.option("--off", is_flag=True, help="Add it disabled.")
@_app
@_session
@on_the_server
def add(
    terminal: Terminal,
    place: str,
    *,
    after: bool,
    off: bool,
    app: str | None,
    session: str | None,
    **draft: str,
) -> None:
    """Break on `tool:book_*`, `state:user:*`, `event:error`, `agent:planner`, `model`, `final`, …

    ON is what to break on; NAME narrows it down, and * matches anything.
    """
    on, _, name = place.partition(":")
    point = terminal.client.add_breakpoint(
        app_of(terminal.client, app, session),
        on,
        name=name or "*",
        when="after" if after else "before",
        enabled=not off,
        **draft,
    )
    _say(terminal, [point])


@break_group.command()
@_number
@click.argument("place", metavar="[ON[:NAME]]", required=False)
@click.option("--if", "condition", metavar="EXPR", help="Break only if this expression is true.")
@click.option("--agent", metavar="NAME", help="Break only in this agent; * matches anything.")
@click.option("--after/--before", default=None, help="Break after, or before.")
@click.option("--hits", "hit", metavar="TIMES", help="Break only on these hits of a run.")
@click.option("--log", help="Log this line instead of breaking.")
@on_the_server
def change(
    terminal: Terminal, number: int, place: str | None, *, after: bool | None, **draft: str | None
) -> None:
    """Edit breakpoint NUMBER. Only what is given changes; '' clears an option."""
    changes: dict[str, Any] = {name: value for name, value in draft.items() if value is not None}
    if place is not None:
        changes["on"], _, name = place.partition(":")
        changes["name"] = name or "*"
    if after is not None:
        changes["when"] = "after" if after else "before"
    if not changes:
        raise click.UsageError(
            "nothing to change: give ON:NAME, --before, --after, --if, --agent, --hits or --log"
        )
    if changes.get("agent") == "":
        changes["agent"] = "*"
    _patch(terminal, number, **changes)


@break_group.command("list")
@_app
@on_the_server
def list_(terminal: Terminal, app: str | None) -> None:
    """List the breakpoints of one app, or of all apps."""
    client = terminal.client
    _say(terminal, [p for name in ([app] if app else apps_of(client)) for p in _of(client, name)])


@break_group.command()
@_number
@on_the_server
def rm(terminal: Terminal, number: int) -> None:
    """Delete breakpoint NUMBER."""
    point = _find(terminal.client, number)
    terminal.client.delete_breakpoint(point["app"], number)
    terminal.say({"deleted": number}, lambda _: [f"deleted breakpoint {number}"])


@break_group.command()
@_number
@_user
@on_the_server
def enable(terminal: Terminal, number: int, user: str | None) -> None:
    """Enable breakpoint NUMBER."""
    _patch(terminal, number, user=user, enabled=True)


@break_group.command()
@_number
@_user
@on_the_server
def disable(terminal: Terminal, number: int, user: str | None) -> None:
    """Disable breakpoint NUMBER."""
    _patch(terminal, number, user=user, enabled=False)


def _patch(terminal: Terminal, number: int, **change: Any) -> None:
    point = _find(terminal.client, number)
    version = point["version"]
    _say(terminal, [terminal.client.change_breakpoint(point["app"], number, version, **change)])


def _find(client: Client, number: int) -> "BreakpointJson":
    """Return the breakpoint with a number, which is unique across apps. Raises NotFoundError."""
    for app in apps_of(client):
        for point in _of(client, app):
            if point["id"] == number:
                return point
    raise NotFoundError(f"there is no breakpoint {number}; run `devui dbg break list` to see them")


def _of(client: Client, app: str) -> "list[BreakpointJson]":
    return client.breakpoints(app)


def _say(terminal: Terminal, points: "list[BreakpointJson]") -> None:
    if terminal.as_json:
        for point in points:
            terminal.say(point, lambda _: [])
    else:
        terminal.say(points, breakpoint_lines)
