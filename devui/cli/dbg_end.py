"""`devui dbg end`: ends one call of a model or a tool that is under way."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from devui.cli.failures import Misused, MovedOn
from devui.cli.finding import Terminal, on_the_server
from devui.cli.lines import plain
from devui.cli.naming import running
from devui.cli.orders import key_option, no_wait_option, send, session_option


@click.command()
@click.argument("call")
@click.argument("value", required=False)
@click.option("--why", help="Said to the agent; without VALUE only.")
@session_option
@key_option
@no_wait_option
@on_the_server
def end(
    terminal: Terminal,
    call: str,
    value: str | None,
    why: str | None,
    session: str | None,
    key: str | None,
    no_wait: bool,
) -> None:
    """End CALL, which does not return: it fails, or has VALUE for its answer. The run goes on.

    CALL is its number as `devui dbg why` tells it, its id, or the name of its tool or model. VALUE
    is JSON or a text; `-` reads it from standard input.
    """
    if value is not None and why is not None:
        raise Misused("with VALUE the call does not fail: leave --why away")
    client = terminal.client
    position = running(client, session)
    order: dict[str, Any] = {"command": "end", "value": why}
    if value is not None:
        order = {"command": "answer", "value": _value(sys.stdin.read() if value == "-" else value)}
    calls = client.get("api", "runs", position["run"], "standing")["calls"]
    number = _one(calls, call, position)
    send(terminal, position, "calls", wait=not no_wait, call=number, key=key, **order)


def _one(calls: Sequence[Mapping[str, Any]], name: str, position: dict[str, Any]) -> int:
    """The number of the call that is meant; whether it is under way yet is for the server."""
    if name.isdecimal():
        return int(name)
    for member in ("call", "name"):
        found = [each for each in calls if str(each[member]) == name]
        if len(found) == 1:
            return int(found[0]["id"])
        if found:
            numbers = ", ".join(f"{each['id']} ({plain(each['about'])})" for each in found)
            raise Misused(f"several calls are called {name!r}: name one by its number, {numbers}")
    raise MovedOn(f"no call {name!r} is under way", position)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
