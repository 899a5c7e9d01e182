"""`devui dbg end`: ends one call of a model or a tool that is under way."""

import json
import sys
from typing import Any

import click

from devui.cli.failures import Misused
from devui.cli.finding import Terminal, on_the_server
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
    position = running(terminal.client, session, or_over=key is not None)
    order: dict[str, Any] = {"command": "end", "value": why}
    if value is not None:
        order = {"command": "answer", "value": _value(sys.stdin.read() if value == "-" else value)}
    meant = int(call) if call.isdecimal() else call
    send(terminal, position, "calls", wait=not no_wait, call=meant, key=key, **order)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
