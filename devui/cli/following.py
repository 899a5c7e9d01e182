"""Follows a session live: its stream, and what of it is printed."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import click

from devui.cli.client import Client
from devui.cli.failures import Failed, NoServer, NotThere
from devui.cli.finding import Terminal
from devui.cli.lines import event_lines, output_lines, position_lines

_LINES: dict[str, Callable[[Any], list[str]]] = {
    "event": event_lines,
    "output": output_lines,
    "position": position_lines,
}


def follow(client: Client, session: int, after: int) -> Iterator[dict[str, Any]]:
    """All that happens in a session past event `after`.

    Raises NotThere when the session is deleted, NoServer when the server ends.
    """
    for frame in client.stream("api", "sessions", session, "stream", after=after):
        if frame.event == "away":
            raise NoServer("the server ends; the journal keeps what was committed")
        if frame.event == "reset":
            raise Failed("more events were missed than are sent again; attach again")
        if frame.event:
            break
        news: dict[str, Any] = json.loads(frame.data)
        if news["type"] == "deleted":
            raise NotThere(f"session {session} was deleted")
        yield news
    raise NoServer(f"the server at {client.url} closed the stream")


def news_of(
    client: Client, session: int, after: int, *, as_json: bool = False
) -> Iterator[dict[str, Any]]:
    """The same for people: where a run stands is told once, until it stands elsewhere."""
    stood: list[str] = []
    for news in follow(client, session, after):
        if news["type"] == "position" and not as_json:
            before, stood = stood, position_lines(news)
            if stood == before:
                continue
        yield news


def tell(terminal: Terminal, news: dict[str, Any]) -> None:
    """Print one of the news; kinds that nobody here knows are for programs."""
    if terminal.as_json or news["type"] in _LINES:
        terminal.say(news, _LINES.get(news["type"], lambda _: []))


def newest_number(client: Client, session: int) -> int:
    """The number of the session's last event; 0 without one."""
    rows = client.listed("api", "sessions", session, "events", last=1)
    return int(rows[-1]["number"]) if rows else 0


def left(what: str) -> None:
    """After Ctrl-C: say what that did not end."""
    click.echo(f"\n{what}", err=True)
