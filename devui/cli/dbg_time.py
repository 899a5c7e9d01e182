"""`devui dbg fork`, `rewind`, `usage` and `trace`: other ways on, and what it took so far."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from devui.cli.failures import Misused
from devui.cli.finding import Terminal, on_the_server
from devui.cli.following import newest_number
from devui.cli.lines import plain
from devui.cli.naming import session_of
from devui.cli.orders import say_where, session_option, settled

_guard = click.option(
    "--guard",
    type=click.Choice(["ask", "recorded", "run"]),
    default="ask",
    show_default=True,
    help="What becomes of tools with effects that ran before.",
)


@click.command()
@click.argument("number", type=int)
@click.option("--state", metavar="JSON", help="State keys to set in the fork, as an object.")
@click.option("--event", metavar="JSON", help="What event NUMBER is in it; - reads it.")
@click.option("--message", is_flag=True, help="Leave the user's message NUMBER out.")
@click.option("--note", metavar="TEXT", help="What it is for.")
@click.option("--run", is_flag=True, help="Go on in it at once.")
@_guard
@session_option
@on_the_server
def fork(
    terminal: Terminal,
    number: int,
    *,
    state: str | None,
    event: str | None,
    message: bool,
    note: str | None,
    run: bool,
    guard: str,
    session: str | None,
) -> None:
    """Make a session of the events up to NUMBER; 0 is none of them."""
    client, found = terminal.client, session_of(terminal.client, session)
    made = client.post(
        *("api", "sessions", found["key"], "forks"),
        number=number,
        state=None if state is None else _object("the state", state),
        event=None if event is None else _object("the event", event),
        message=message or None,
        note=note,
        run=run or None,
        guard=guard,
        actor=client.actor,
    )
    terminal.say(made, lambda told: _fork_lines(told, client.url))
    if made["run"]:
        position = client.get("api", "runs", made["run"])
        say_where(terminal, settled(terminal, position), made["fork"]["number"])


@click.command()
@click.argument("number", type=int)
@click.argument("message", required=False)
@_guard
@session_option
@on_the_server
def rewind(
    terminal: Terminal, number: int, message: str | None, *, guard: str, session: str | None
) -> None:
    """Take the session back to before the message NUMBER, and say MESSAGE in its place."""
    client, found = terminal.client, session_of(terminal.client, session)
    address = ("api", "sessions", found["key"], "rewind")
    before = newest_number(client, found["key"])
    begun = client.post(*address, number=number, message=message, guard=guard)
    position = settled(terminal, begun)
    if message is not None and position["status"] == "done":
        follows = client.get("api", "sessions", found["key"], "run")
        position = settled(terminal, follows)
    say_where(terminal, position, before)


@click.command()
@click.option("--at", type=int, help="As of this event.")
@session_option
@on_the_server
def usage(terminal: Terminal, at: int | None, session: str | None) -> None:
    """Tell the tokens and the cost of the session, for each agent and model."""
    found = session_of(terminal.client, session)
    asked = ("api", "sessions", found["key"], "usage")
    terminal.say(terminal.client.get(*asked, until=at), _usage_lines)


@click.command()
@click.option("--run", metavar="ID", help="One run instead of all.")
@session_option
@on_the_server
def trace(terminal: Terminal, run: str | None, session: str | None) -> None:
    """Print the spans of the session as OTLP JSON, for any viewer of traces."""
    found = session_of(terminal.client, session)
    told = terminal.client.get("api", "sessions", found["key"], "trace", run=run)
    terminal.say(told, lambda spans: [json.dumps(spans)])


def _object(what: str, text: str) -> Any:
    try:
        value = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise Misused(f"{what} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Misused(f'{what} has to be a JSON object, such as {{"city": "Oslo"}}')
    return value


def _fork_lines(told: Mapping[str, Any], url: str) -> list[str]:
    of = told["fork"]
    place = f"#{of['number'] + 1}, edited" if of["reason"] == "event" else f"#{of['number']}"
    lines = [
        f"session {told['key']}, a fork of session {of['parent']} at {place}",
        f"{url}/sessions/{told['key']}",
    ]
    unknown = [f"{plain(call['tool'])} {plain(call['id'])}" for call in told["unknown"]]
    if unknown:
        lines.append(f"it does not run: nobody knows of {', '.join(unknown)}; see devui resume")
    return lines


def _usage_lines(told: Mapping[str, Any]) -> list[str]:
    return [*_sums(told)]


def _sums(told: Mapping[str, Any]) -> Iterator[str]:
    for each in told["sums"]:
        yield "  ".join(
            (
                plain(each["agent"]),
                plain(each["model"] or "unnamed"),
                f"answers {each['answers']}",
                f"prompt {each['prompt']} (cached {each['cached']})",
                f"output {each['output']} (thinking {each['thoughts']})",
                _dollars(each["cost"]),
            )
        )
    without = told["unpriced"]
    named = f"{without} answer{'' if without == 1 else 's'}"
    unpriced = f", without {named} of unknown price" if without else ""
    yield f"together {_dollars(told['cost'])}{unpriced}; prices of {told['prices']}"


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}"
