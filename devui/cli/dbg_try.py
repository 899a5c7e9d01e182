"""`devui dbg tools` and `devui dbg try`: what tools do, and one of them by itself."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from devui.cli.failures import Misused, NotThere
from devui.cli.finding import Terminal, on_the_server
from devui.cli.lines import json_words, plain
from devui.cli.naming import app_of, session_of

_EFFECTS: Final = ("read_only", "idempotent", "effects")
_AS_IN_CODE: Final = "as_in_code"
_RAISED: Final = 1
"""The exit status when the tool has raised."""
_session = click.option("-s", "--session", metavar="KEY", help="Number or id; the one that runs.")


@click.command("tools")
@click.argument("tool", required=False)
@click.option(
    "--is",
    "effect",
    type=click.Choice([*_EFFECTS, _AS_IN_CODE]),
    help=f"Say what TOOL does to the world; {_AS_IN_CODE} takes back what was said.",
)
@click.option("--app", metavar="NAME", help="The session's app, or the only one, if not said.")
@_session
@on_the_server
def tools(
    terminal: Terminal,
    tool: str | None,
    *,
    effect: str | None,
    app: str | None,
    session: str | None,
) -> None:
    """List an app's tools, or just TOOL, with what their calls do to the world."""
    if effect and tool is None:
        raise Misused("name the tool: devui dbg tools TOOL --is read_only")
    name = app_of(terminal.client, app, session)
    place = ("api", "apps", name, "tools")
    told = [each for each in terminal.client.listed(*place) if tool in {None, each["name"]}]
    if tool is not None and not told:
        raise NotThere(f"{name} has no tool {tool}")
    if effect:
        said = None if effect == _AS_IN_CODE else effect
        told = [terminal.client.put(*place, tool, effect=said, actor=terminal.client.actor)]
    terminal.say(told, _tools)


@click.command("try")
@click.argument("tool")
@click.argument("args", required=False, default="{}")
@click.option("--at", type=int, help="Over the state as of this event.")
@click.option("--sure", is_flag=True, help="Run it although it may have effects.")
@_session
@on_the_server
def try_(
    terminal: Terminal, tool: str, args: str, *, at: int | None, sure: bool, session: str | None
) -> None:
    """Run TOOL by itself with ARGS, a JSON object, over a copy of the session's state.

    Nothing is committed; what it would write is shown. What the tool does elsewhere, it does.
    Exits with 1 if the tool raised.
    """
    found = session_of(terminal.client, session)
    tried = terminal.client.post(
        *("api", "apps", found["app"], "tools", tool, "trials"),
        args=_object(args),
        session=found["key"],
        event=at,
        sure=sure,
        actor=terminal.client.actor,
    )
    terminal.say(tried, _trial)
    if tried["error"] is not None:
        sys.exit(_RAISED)


def _object(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Misused(f"the arguments are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Misused('the arguments have to be a JSON object, such as {"city": "Oslo"}')
    return value


def _tools(told: list[Mapping[str, Any]]) -> list[str]:
    return [
        f"{plain(each['name'])}  {each['effect']}{_source(each)}  "
        f"{plain(', '.join(each['agents']))}"
        for each in told
    ] or ["the app has no tools"]


def _source(told: Mapping[str, Any]) -> str:
    return f", said by {plain(told['by'])}" if told["by"] else f" ({told['source']})"


def _trial(told: Mapping[str, Any]) -> list[str]:
    return list(_lines(told))


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    error = told["error"]
    if error is not None:
        yield click.style(plain(f"{error['type']}: {error['message']}"), fg="red")
        return
    yield json_words(told["result"].get("result"))
    actions = dict(told["result"]["actions"])
    for key, value in actions.pop("stateDelta", {}).items():
        yield f"      would write {plain(key)}: {json_words(value)}"
    for name, value in actions.items():
        yield f"      would do {plain(name)}: {json_words(value)}"
