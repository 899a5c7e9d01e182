"""`devui dbg notes` and `devui dbg note`: what people say of a session and its events."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from devui.cli.failures import Misused
from devui.cli.finding import Terminal, on_the_server
from devui.cli.lines import plain
from devui.cli.naming import session_of
from devui.cli.orders import session_option


@click.command("notes")
@session_option
@on_the_server
def notes(terminal: Terminal, session: str | None) -> None:
    """List the notes and stars of the session and of its events."""
    found = session_of(terminal.client, session)
    told = terminal.client.listed("api", "sessions", found["key"], "notes")
    terminal.say(told, _lines)


@click.command("note")
@click.argument("number", type=int)
@click.argument("text", required=False)
@click.option("--star/--no-star", default=None, help="Star it, or no longer.")
@session_option
@on_the_server
def note(
    terminal: Terminal, number: int, text: str | None, *, star: bool | None, session: str | None
) -> None:
    """Write TEXT about event NUMBER, or about the session with 0; an empty one takes it away."""
    if text is None and star is None:
        raise Misused("say what to write, or --star or --no-star")
    client, found = terminal.client, session_of(terminal.client, session)
    said = {"text": text, "starred": star, "actor": client.actor}
    told = client.patch(
        *("api", "sessions", found["key"], "notes", number),
        **{name: value for name, value in said.items() if value is not None},
    )
    terminal.say(told, lambda kept: [_line(kept)])


def _lines(told: Sequence[Mapping[str, Any]]) -> list[str]:
    kept = sorted(told, key=lambda each: each["number"])
    return [_line(each) for each in kept] or ["there are no notes"]


def _line(told: Mapping[str, Any]) -> str:
    place = f"#{told['number']}" if told["number"] else "session"
    star = "★" if told["starred"] else " "
    by = click.style(f"  {plain(told['actor'])}", dim=True)
    return f"{star} {place:<8}{plain(told['text'])}{by}"
