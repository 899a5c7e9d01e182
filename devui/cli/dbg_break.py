"""`devui dbg break`: an app's breakpoints in the terminal."""

from typing import Any

import click

from devui.cli.client import Client
from devui.cli.failures import NotThere
from devui.cli.finding import Terminal, on_the_server
from devui.cli.lines import breakpoint_lines
from devui.cli.naming import app_of, apps_of

_app = click.option(
    "--app", metavar="NAME", help="App that it is kept for; the session's or the only one."
)
_session = click.option("-s", "--session", metavar="KEY", help="A session of that app.")
_number = click.argument("number", type=int)
_user = click.option("--user", metavar="NAME", help="For this user's sessions alone.")


@click.group("break")
def break_group() -> None:
    """Make, list, change and switch breakpoints; they are kept for each app."""


@break_group.command()
@click.argument("place", metavar="ON[:NAME]")
@click.option(
    "--if", "condition", metavar="EXPR", default="", help="Expression that has to be true."
)
@click.option(
    "--agent", metavar="NAME", default="*", help="Agent that it is narrowed to; * for anything."
)
@click.option("--after", is_flag=True, help="Stop after the commit, the call or the agent.")
@click.option(
    "--hits",
    "hit",
    metavar="TIMES",
    default="",
    help="Which times in one run: '== 3', '>= 3', '% 3'.",
)
@click.option("--log", default="", help="Never stop; write this line, with {…} filled in.")
@click.option("--off", is_flag=True, help="Make it switched off.")
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

    What comes before the colon is what is waited for, what comes behind it narrows that by name.
    """
    on, _, name = place.partition(":")
    made = terminal.client.post(
        *("api", "apps", app_of(terminal.client, app, session), "breakpoints"),
        on=on,
        name=name or "*",
        when="after" if after else "before",
        enabled=not off,
        **draft,
    )
    _say(terminal, [made])


@break_group.command()
@_number
@click.argument("place", metavar="[ON[:NAME]]", required=False)
@click.option("--if", "condition", metavar="EXPR", help="Expression that has to be true.")
@click.option("--agent", metavar="NAME", help="Agent that it is narrowed to; * for anything.")
@click.option("--after/--before", default=None, help="On which side of it to stop.")
@click.option("--hits", "hit", metavar="TIMES", help="Which times in one run.")
@click.option("--log", help="Never stop; write this line.")
@on_the_server
def change(
    terminal: Terminal, number: int, place: str | None, *, after: bool | None, **draft: str | None
) -> None:
    """Change what is given of the breakpoint with this NUMBER; '' takes it away."""
    given: dict[str, object] = {name: said for name, said in draft.items() if said is not None}
    if place is not None:
        given["on"], _, name = place.partition(":")
        given["name"] = name or "*"
    if after is not None:
        given["when"] = "after" if after else "before"
    if not given:
        raise click.UsageError("say what is to be changed: ON:NAME, --if, --agent, --hits, --log")
    if given.get("agent") == "":
        given["agent"] = "*"
    _patch(terminal, number, **given)


@break_group.command("list")
@_app
@on_the_server
def list_(terminal: Terminal, app: str | None) -> None:
    """List the breakpoints of an app, or of all."""
    client = terminal.client
    _say(terminal, [p for name in ([app] if app else apps_of(client)) for p in _of(client, name)])


@break_group.command()
@_number
@on_the_server
def rm(terminal: Terminal, number: int) -> None:
    """Delete the breakpoint with this NUMBER."""
    point = _named(terminal.client, number)
    terminal.client.delete("api", "apps", point["app"], "breakpoints", number)
    terminal.say({"deleted": number}, lambda _: [f"breakpoint {number} is deleted"])


@break_group.command()
@_number
@_user
@on_the_server
def enable(terminal: Terminal, number: int, user: str | None) -> None:
    """Switch the breakpoint with this NUMBER on."""
    _patch(terminal, number, user=user, enabled=True)


@break_group.command()
@_number
@_user
@on_the_server
def disable(terminal: Terminal, number: int, user: str | None) -> None:
    """Switch the breakpoint with this NUMBER off."""
    _patch(terminal, number, user=user, enabled=False)


def _patch(terminal: Terminal, number: int, **change: object) -> None:
    point = _named(terminal.client, number)
    path = ("api", "apps", point["app"], "breakpoints", number)
    changed = terminal.client.patch(*path, version=point["version"], **change)
    _say(terminal, [changed])


def _named(client: Client, number: int) -> dict[str, Any]:
    """The breakpoint with a number, which is no other app's; raises NotThere."""
    for app in apps_of(client):
        for point in _of(client, app):
            if point["id"] == number:
                return point
    raise NotThere(f"there is no breakpoint {number}; `devui dbg break list` shows them")


def _of(client: Client, app: str) -> list[dict[str, Any]]:
    return client.listed("api", "apps", app, "breakpoints")


def _say(terminal: Terminal, points: list[dict[str, Any]]) -> None:
    if terminal.as_json:
        for point in points:
            terminal.say(point, lambda _: [])
    else:
        terminal.say(points, breakpoint_lines)
