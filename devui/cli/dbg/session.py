"""`devui dbg fork`, `rewind`, `usage`, `trace`, `notes`, `tags` and others: whole sessions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from devui.cli.dbg.arguments import json_object
from devui.cli.dbg.control import say_end, session_option, wait_for_stop
from devui.cli.follow import newest_number
from devui.cli.lookup import session_of
from devui.cli.output import plain
from devui.cli.server import Terminal, on_the_server
from devui.cli.unknown_calls import choices
from devui.failures import BadRequestError, ConflictError
from devui.web.text.formats import plural

if TYPE_CHECKING:
    from devui.debugger.guard.guard import Policy
    from devui.web.panels.recovery.api import NewForkJson


@click.command("notes")
@session_option
@on_the_server
def notes(terminal: Terminal, session: str | None) -> None:
    """List the notes and stars of the session and its events."""
    row = session_of(terminal.client, session)
    answer = terminal.client.notes(row["key"])
    terminal.say(answer, _lines)


@click.command("note")
@click.argument("number", type=int)
@click.argument("text", required=False)
@click.option("--star/--no-star", default=None, help="Add or remove the star.")
@session_option
@on_the_server
def note(
    terminal: Terminal, number: int, text: str | None, *, star: bool | None, session: str | None
) -> None:
    """Attach the note TEXT to event NUMBER, or to the session if 0. An empty TEXT removes it."""
    if text is None and star is None:
        raise BadRequestError("nothing to change: give TEXT, --star or --no-star")
    row = session_of(terminal.client, session)
    answer = terminal.client.set_note(row["key"], number, text=text, starred=star)
    terminal.say(answer, lambda entry: [_line(entry)])


@click.command("tags")
@click.option("--app", metavar="NAME", help="Only tags of this app's sessions.")
@on_the_server
def tags(terminal: Terminal, app: str | None) -> None:
    """List the tags that sessions have, and how many sessions have each."""
    terminal.say(terminal.client.tags(app=app), _tag_lines)


@click.command("tag")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--remove", is_flag=True, help="Remove the tags instead of adding them.")
@session_option
@on_the_server
def tag(terminal: Terminal, names: tuple[str, ...], *, remove: bool, session: str | None) -> None:
    """Add tags to the session, or remove them, and list its tags."""
    row = session_of(terminal.client, session)
    order = "remove" if remove else "add"
    answer = terminal.client.change_tags(row["key"], **{order: list(names)})
    terminal.say(answer, lambda tags: [*map(plain, tags["tags"])] or ["no tags"])


def _tag_lines(answer: Sequence[Mapping[str, Any]]) -> list[str]:
    return [f"{plain(each['name'])}  {each['sessions']}" for each in answer] or ["no tags"]


def _lines(answer: Sequence[Mapping[str, Any]]) -> list[str]:
    notes = sorted(answer, key=lambda each: each["number"])
    return [_line(each) for each in notes] or ["no notes"]


def _line(answer: Mapping[str, Any]) -> str:
    place = f"#{answer['number']}" if answer["number"] else "session"
    star = "★" if answer["starred"] else " "
    by = click.style(f"  {plain(answer['actor'])}", dim=True)
    return f"{star} {place:<8}{plain(answer['text'])}{by}"


_guard = click.option(
    "--guard",
    type=click.Choice(["ask", "recorded", "run"]),
    default="ask",
    show_default=True,
    help="What to do when a tool with effects is about to run again.",
)


@click.command()
@click.argument("number", type=int)
@click.option("--state", metavar="JSON", help="State keys to set in the fork, as a JSON object.")
@click.option(
    "--event", metavar="JSON", help="Replacement for event NUMBER; - reads it from standard input."
)
@click.option("--message", is_flag=True, help="Leave out the user's message NUMBER.")
@click.option("--note", metavar="TEXT", help="Note to attach to the fork.")
@click.option("--run", is_flag=True, help="Start a run in the fork.")
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
    guard: "Policy",
    session: str | None,
) -> None:
    """Make a new session from the events up to NUMBER (0 for none).

    Exit status: with --run, 1 if the run failed, 6 if it can't run from there.
    """
    client, row = terminal.client, session_of(terminal.client, session)
    result = client.fork(
        row["key"],
        number,
        state=None if state is None else json_object("the state", state),
        event=None if event is None else json_object("the event", event),
        message=message,
        note=note,
        run=run,
        guard=guard,
    )
    terminal.say(result, lambda answer: _fork_lines(answer, client.url))
    if result["run"] and result["fork"]:
        say_end(terminal, client.run(result["run"]), result["fork"]["number"])
    elif run:
        raise _not_running(result)


@click.command()
@click.argument("number", type=int)
@click.argument("message", required=False)
@_guard
@session_option
@on_the_server
def rewind(
    terminal: Terminal, number: int, message: str | None, *, guard: "Policy", session: str | None
) -> None:
    """Rewind the session to before message NUMBER, and send MESSAGE instead, if given."""
    client, row = terminal.client, session_of(terminal.client, session)
    before = newest_number(client, row["key"])
    rewind = client.rewind(row["key"], number=number, message=message, guard=guard)
    position = wait_for_stop(terminal, rewind)
    if message is not None and position["status"] == "done":
        position = client.newest_run(row["key"])
    say_end(terminal, position, before)


@click.command()
@click.option("--at", type=int, help="Show the sums as of this event.")
@session_option
@on_the_server
def usage(terminal: Terminal, at: int | None, session: str | None) -> None:
    """Show the tokens and cost of the session by agent and model."""
    row = session_of(terminal.client, session)
    terminal.say(terminal.client.usage(row["key"], until=at), _usage_lines)


@click.command()
@click.option("--run", metavar="ID", help="Only this run.")
@session_option
@on_the_server
def trace(terminal: Terminal, run: str | None, session: str | None) -> None:
    """Print the spans of the session as OTLP JSON, for any trace viewer."""
    row = session_of(terminal.client, session)
    answer = terminal.client.trace(row["key"], run=run)
    terminal.say(answer, lambda spans: [json.dumps(spans)])


def _fork_lines(answer: Mapping[str, Any], url: str) -> list[str]:
    of = answer["fork"]
    place = f"#{of['number'] + 1} (edited)" if of["reason"] == "event" else f"#{of['number']}"
    return [
        f"session {answer['key']}, a fork of session {of['parent']} at {place}",
        f"{url}/sessions/{answer['key']}",
    ]


def _not_running(fork: "NewForkJson") -> ConflictError:
    """Return the error that says why a new fork isn't running, and what to do."""
    key = fork["key"]
    if not fork["unknown"]:
        return ConflictError(
            f"session {key} was made, but isn't running: {plain(fork['detail'] or '')}"
        )
    head = (
        f"session {key} was made, but isn't running. Continue it with"
        f" `devui resume {key} --call ID=WHAT`, or fork at an event before the calls;"
    )
    return ConflictError("\n".join([head, *choices(fork["unknown"])]), unknown=fork["unknown"])


def _usage_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    for each in answer["sums"]:
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
    without = answer["unpriced"]
    answers = plural(without, "answer")
    unpriced = f", excluding {answers} with unknown prices" if without else ""
    yield f"total {_dollars(answer['cost'])}{unpriced}; prices of {answer['prices']}"


def _dollars(cost: float | None) -> str:
    return "cost unknown" if cost is None else f"${cost:.4f}"
