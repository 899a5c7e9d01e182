"""`devui dbg`: the debugger in the terminal, on the endpoints that the page has, too."""

import json
import sys
from typing import Any, Final

import click

from devui.cli.blame_lines import blame_lines
from devui.cli.dbg_break import break_group
from devui.cli.dbg_end import end
from devui.cli.dbg_notes import note, notes
from devui.cli.dbg_prompt import prompt
from devui.cli.dbg_time import fork, rewind, trace, usage
from devui.cli.dbg_try import tools, try_
from devui.cli.failures import LEFT, Misused
from devui.cli.finding import Terminal, on_the_server
from devui.cli.following import left, newest_number, news_of, tell
from devui.cli.lines import (
    event_lines,
    position_lines,
    session_lines,
    state_change_lines,
    state_lines,
)
from devui.cli.naming import new_session, running, session_of
from devui.cli.orders import (
    key_option,
    no_wait_option,
    say_where,
    send,
    session_option,
    settled,
)
from devui.cli.standing_lines import standing_lines

_ORDERS: Final = {
    "continue": ("continue", "Let the run go on."),
    "step": ("step_event", "Go on to after the next commit."),
    "half": ("step_half", "Go on by one of yield, commit, resume."),
    "into": ("step_into", "Go on to the next gate: model, tool, agent or commit."),
    "out": ("step_out", "Go on until the call or the agent that is held returns."),
    "pause": ("pause", "Hold the next event before its commit."),
    "finish": (
        "stop_after_event",
        "Stop the run once the present event, or else the next, is committed.",
    ),
    "stop": ("stop", "Stop the run at once."),
    "skip": ("skip", "Do not call the tool that is held; the model is told so."),
    "drop": ("drop", "Do not commit the event that is held."),
    "undo": ("undo", "Take back what was to be done to what is held."),
}
_CHANGES: Final = {
    "edit": "Put VALUE, as JSON, in the place of what is held.",
    "mock": "Answer with VALUE for the model or tool that is held.",
    "reject": "Do not call the tool, and tell the model why: VALUE.",
}
_TEXTS: Final = frozenset({"mock", "reject"})
"""Commands whose value may be a plain text."""

_EXAMPLES = """\b
Examples:
  devui dbg attach            follow the session that runs, or the newest
  devui dbg step              go on to after the next commit
  devui dbg state plan --at 7 one key, as of event #7
  devui dbg state --from 3 --at 7   what #4 to #7 changed in it
  devui dbg prompt 7          what was sent to the model that answered with #7
  devui dbg blame plan        who wrote the key plan, and what each write changed
  devui dbg break add tool:book_* --if 'args.price > 500'

Ends with 0, or 1 failed, 2 wrong usage, 3 no server, 4 wrong token, 5 no such thing, 6 the run has
moved on, 130 after Ctrl-C.
"""

_hold = click.option("--hold", type=int, help="Which of the holds, if there are several.")
_position = click.option(
    "--position", type=int, help="Position it was decided upon; refused if the run has moved on."
)


@click.group("dbg", epilog=_EXAMPLES)
def command() -> None:
    """Step, break and look into runs from the terminal.

    Commands are about the session with --session, else about the only one that has a run.
    """


command.add_command(break_group)
command.add_command(end)
command.add_command(tools)
command.add_command(try_)
command.add_command(fork)
command.add_command(note)
command.add_command(notes)
command.add_command(prompt)
command.add_command(rewind)
command.add_command(trace)
command.add_command(usage)


@command.command()
@click.argument("session", required=False)
@click.option("--last", default=20, show_default=True, help="How many events to begin with.")
@on_the_server
def attach(terminal: Terminal, session: str | None, last: int) -> None:
    """Follow SESSION live, until Ctrl-C.

    Events, output, where the run is held, and what will change.
    """
    going = False
    try:
        found = session_of(terminal.client, session)
        if not terminal.as_json:
            terminal.say(found, session_lines)
        after = _recent(terminal, found["key"], last)
        for news in news_of(terminal.client, found["key"], after, as_json=terminal.as_json):
            tell(terminal, news)
            if news["type"] == "position":
                going = news["ended"] is None
    except KeyboardInterrupt:
        left("left; the run goes on without you" if going else "left")
        sys.exit(LEFT)


def _recent(terminal: Terminal, session: int, last: int) -> int:
    """Print the last events, and return the number of the newest."""
    rows = terminal.client.listed("api", "sessions", session, "events", last=max(last, 0))
    for row in rows:
        terminal.say({"type": "event", **row}, event_lines)
    return int(rows[-1]["number"]) if rows else newest_number(terminal.client, session)


@command.command()
@click.argument("key", required=False)
@click.option("--at", type=int, help="As of this event.")
@click.option("--from", "since", type=int, help="What has changed since this event; 0 is before.")
@session_option
@on_the_server
def state(
    terminal: Terminal, key: str | None, *, at: int | None, since: int | None, session: str | None
) -> None:
    """Show the state, or KEY alone, now or as of an event, or what changed between two."""
    found = session_of(terminal.client, session)
    asked = {"at": at, "from": since}
    told = terminal.client.get("api", "sessions", found["key"], "state", **asked)
    if key is not None:
        for part in told.keys() & {"values", "pending", "changes"}:
            told[part] = [each for each in told[part] if each["key"] == key]
    terminal.say(told, state_lines if since is None else state_change_lines)


@command.command()
@click.argument("key")
@click.argument("path", required=False)
@click.option("--at", type=int, help="Writes up to this event.")
@session_option
@on_the_server
def blame(
    terminal: Terminal, key: str, path: str | None, at: int | None, session: str | None
) -> None:
    """Say who wrote KEY of the state, or what is at PATH in it, such as steps[2].done."""
    found = session_of(terminal.client, session)
    address = ("api", "sessions", found["key"], "state", "history")
    terminal.say(terminal.client.get(*address, key=key, path=path, at=at), blame_lines)


@command.command()
@session_option
@on_the_server
def where(terminal: Terminal, session: str | None) -> None:
    """Say where the run stands, or how it ended."""
    found = session_of(terminal.client, session)
    terminal.say(terminal.client.get("api", "sessions", found["key"], "run"), position_lines)


@command.command()
@session_option
@on_the_server
def why(terminal: Terminal, session: str | None) -> None:
    """Say what the run waits for: calls, tasks with file:line, people, who has the event loop."""
    client = terminal.client
    found = session_of(client, session)
    run = found["run"] or client.get("api", "sessions", found["key"], "run")["run"]
    terminal.say(client.get("api", "runs", run, "standing"), standing_lines)


@command.command()
@click.argument("message")
@session_option
@click.option("--new", "app", metavar="APP", help="In a new session of this app.")
@click.option("--no-pause", is_flag=True, help="Do not hold the first event.")
@on_the_server
def start(
    terminal: Terminal, message: str, session: str | None, app: str | None, no_pause: bool
) -> None:
    """Send MESSAGE, and hold the run before its first event."""
    client = terminal.client
    if app is not None and session is not None:
        raise Misused("--new makes a session, --session names one: give one of them")
    key = (new_session(client, app) if app is not None else session_of(client, session))["key"]
    before = newest_number(client, key)
    path = ("api", "sessions", key, "runs")
    position = client.post(*path, message=message, pause=not no_pause, actor=client.actor)
    say_where(terminal, settled(terminal, position), before)


def _order(name: str, order: str, about: str) -> click.Command:
    @click.command(name, help=about)
    @session_option
    @_hold
    @_position
    @key_option
    @no_wait_option
    @on_the_server
    def told(terminal: Terminal, session: str | None, no_wait: bool, **given: Any) -> None:
        at = running(terminal.client, session, or_over=given["key"] is not None)
        _command(terminal, at, order, wait=not no_wait, **given)

    return told


def _change(name: str, about: str) -> click.Command:
    @click.command(name, help=f"{about} `-` reads it from standard input.", short_help=about)
    @click.argument("value")
    @session_option
    @_hold
    @_position
    @key_option
    @on_the_server
    def told(terminal: Terminal, value: str, session: str | None, **given: Any) -> None:
        text = sys.stdin.read() if value == "-" else value
        meant = _value(name, text)
        position = running(terminal.client, session, or_over=given["key"] is not None)
        _command(terminal, position, name, wait=False, value=meant, **given)

    return told


def _command(
    terminal: Terminal, at: dict[str, Any], order: str, *, wait: bool, **given: Any
) -> None:
    """Give one command, from where the run stands if nothing else was said."""
    given["position"] = given["position"] if given.get("position") is not None else at["position"]
    send(terminal, at, "commands", wait=wait, command=order, **given)


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        if name in _TEXTS:
            return text
        raise Misused(f"VALUE is not JSON: {error}") from error


for _name, (_told, _about) in _ORDERS.items():
    command.add_command(_order(_name, _told, _about))
for _name, _about in _CHANGES.items():
    command.add_command(_change(_name, _about))
