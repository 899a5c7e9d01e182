"""`devui dbg`: the debugger in the terminal, over the same endpoints as the page."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from devui.cli.dbg.breakpoints import break_group
from devui.cli.dbg.calls import end, prompt, tools, try_
from devui.cli.dbg.control import (
    key_option,
    no_wait_option,
    say_end,
    say_where,
    session_option,
)
from devui.cli.dbg.history import event, events, log, runs, sessions
from devui.cli.dbg.session import fork, note, notes, rewind, tag, tags, trace, usage
from devui.cli.follow import newest_number, news_of, say_after_interrupt, tell
from devui.cli.lookup import GOING, active_run, session_of
from devui.cli.output import (
    debugger_lines,
    event_lines,
    json_words,
    plain,
    position_lines,
    session_lines,
    state_change_lines,
    state_lines,
)
from devui.cli.server import Terminal, on_the_server
from devui.failures import LEFT, BadRequestError
from devui.web.text.debuggers import UNRESPONSIVE
from devui.web.text.gates import deadlock
from devui.wire.merge_patch import merge_edit

if TYPE_CHECKING:
    from devui.debugger.stepping.commands import CommandName
    from devui.web.panels.runs.schemas import PositionJson


def blame_lines(history: Mapping[str, Any]) -> list[str]:
    """Format each write and its changes, oldest first, then which write each part comes from."""
    key = plain(history["key"])
    lines = [line for write in history["writes"] for line in _write(write, key)]
    if not lines:
        place = f" at {history['path']}" if history["path"] else ""
        return [f"no writes of {key}{plain(place)}"]
    if history["hasEarlier"]:
        lines.insert(0, "earlier writes are not shown")
    if len(history["blame"]) > 1:
        lines.append(click.style(f"{key} now", bold=True))
        lines += [f"      {_part(key, each['path'])}  {_who(each)}" for each in history["blame"]]
    return lines


def _write(write: Mapping[str, Any], key: str) -> Iterator[str]:
    yield click.style(_who(write), bold=True)
    for change in write["changes"]:
        old = json_words(change["old"]) if "old" in change else "nothing"
        new = json_words(change["new"]) if "new" in change else "nothing"
        yield f"      {_part(key, change['path'])}: {old} → {new}"
    if not write["changes"]:
        yield f"      {key}: the same value again"
    for edit in write["edits"]:
        yield f"      {plain(edit['action'])} by {plain(edit['by'])}"
    for other in write["overlaps"]:
        text = f"      also written by {plain(other)} at the same time; the last write wins"
        yield click.style(text, fg="yellow")


def _who(write: Mapping[str, Any]) -> str:
    if write["writer"] == "initial":
        return "start"
    tools = f" via {', '.join(plain(tool) for tool in write['tools'])}" if write["tools"] else ""
    author = f" {plain(write['author'])}" if write["author"] else ""
    if write["writer"] == "elsewhere":
        session = write["session"]
        there = f"session {session}" if session else "a deleted session"
        return f"elsewhere, {there}{author}{tools}"
    return f"#{write['number']}{author}{tools}"


def _part(key: str, path: str) -> str:
    inside = path if not path or path.startswith("[") else f".{path}"
    return key + plain(inside)


_SPACE: Final = " " * 6


def activity_lines(activity: Mapping[str, Any]) -> list[str]:
    """Format how long there was no progress, then everything that the run waits for."""
    silent = activity["silentSeconds"]
    since = f"  no progress for {silent:.1f} s" if activity["lastProgress"] else ""
    lines = [click.style(activity["status"], bold=True) + since]
    lines += debugger_lines(activity["debugger"])
    lines += _blocked(activity["blocked"]) if activity["blocked"] else []
    lines += [
        click.style(plain(deadlock(circle, activity)), fg="red") for circle in activity["deadlocks"]
    ]
    lines += [line for call in activity["calls"] for line in _call(call)]
    lines += [_hold_line(each) for each in activity["branches"] if each["status"] == "held"]
    lines += [line for task in activity["tasks"] for line in _task(task)]
    lines += [_question(question) for question in activity["questions"]]
    if len(lines) == 1:
        is_over = activity["answered"] or activity["status"] not in GOING
        lines.append("not waiting for anything" if is_over else UNRESPONSIVE)
    return lines


def _blocked(blocked: Mapping[str, Any]) -> list[str]:
    by = f" by {plain(blocked['tool'])}" if blocked["tool"] else ""
    text = f"the event loop has been blocked for {blocked['seconds']:.1f} s{by}"
    return [click.style(text, fg="red"), *_place(blocked["place"])]


def _call(call: Mapping[str, Any]) -> list[str]:
    name = f"{call['kind']} {plain(call['name'])}"
    what = f"call {call['id']}  {name}  {plain(call['about'])}".rstrip()
    suffix = ", cancellation requested" if call["ending"] else ""
    about = f"{what}  by {plain(call['agent'])}, {call['seconds']:.1f} s{suffix}"
    return [about, *_place(call["place"])]


def _hold_line(branch: Mapping[str, Any]) -> str:
    return f"held  hold {branch['hold']}: {plain(branch['agent'])}  {plain(branch['doing'])}"


def _task(task: Mapping[str, Any]) -> Iterable[str]:
    on = f" ({plain(task['on'])})" if task["on"] else ""
    awaits = "" if task["awaits"] is None else f", task {task['awaits']}"
    waits = "runs" if task["waits"] == "running" else f"waits for {task['waits']}"
    yield f"task {task['id']}  {plain(task['agent'])}  {waits}{on}{awaits}"
    for place in task["places"]:
        yield from _place(place) if place["own"] else ()


def _question(question: Mapping[str, Any]) -> str:
    asks = f"{plain(question['agent'])} {plain(question['asks'])}"
    asker = question["for"]
    whose = f" for the {asker['kind']} {plain(asker['name'])}" if asker else ""
    about = plain(question["about"] or question["name"])
    return f"waiting for a person to answer #{question['event']}: {asks}{whose}  {about}"


def _place(place: Mapping[str, Any] | None) -> list[str]:
    if place is None:
        return []
    where = f"{plain(place['file'])}:{place['line']} in {plain(place['function'])}"
    return [click.style(f"{_SPACE}{where}  {plain(place['source'])}".rstrip(), dim=True)]


_ORDERS: "Final[dict[str, tuple[CommandName, str]]]" = {
    "continue": ("continue", "Continue the run."),
    "step": ("step_event", "Run until after the next commit."),
    "half": ("step_half", "Run to the next yield, commit or resume."),
    "into": ("step_into", "Run to the next gate: model, tool, agent or commit."),
    "out": ("step_out", "Run until the held call or agent returns."),
    "pause": ("pause", "Hold the next event before its commit."),
    "finish": (
        "stop_after_event",
        "Stop the run after committing the current event, or else the next one.",
    ),
    "stop": ("stop", "Stop the run at once."),
    "skip": ("skip", "Skip the held tool call and tell the model."),
    "drop": ("drop", "Discard the held event."),
    "undo": ("undo", "Undo the change to what is held."),
}
_CHANGES: "Final[dict[CommandName, str]]" = {
    "edit": "Merge VALUE (JSON) into what is held: null removes a member, lists are replaced.",
    "mock": "Answer the held model or tool call with VALUE.",
    "reject": "Reject the held tool call and give the model VALUE as the reason.",
}
_TEXTS: Final = frozenset({"mock", "reject"})
"""Commands whose value may be plain text."""
_LIKE_JSON: Final = ("{", "[", '"')
"""A mock that starts like this but isn't JSON is a typo."""

_EXAMPLES = """\b
Examples:
  devui dbg attach                 follow the running session, or the last active one
  devui dbg events --filter is:error   list the events that are errors
  devui dbg step                   run until after the next commit
  devui dbg state plan --at 7      show one key as of event #7
  devui dbg state --from 3 --at 7  show what #4 to #7 changed
  devui dbg prompt 7               show the request that event #7 answers
  devui dbg blame plan             show who wrote the key plan, and what each write changed
  devui dbg break add tool:book_* --if 'args.price > 500'

Exit status: 0 on success, 1 if the command or the run that it waited for failed, 2 on wrong usage,
3 if no server is running, 4 if the token is wrong, 5 if something doesn't exist, 6 if the run has
moved on, 130 after Ctrl-C.
"""

_hold = click.option("--hold", type=int, help="Hold to act on, if there are several.")
_position = click.option(
    "--position", type=int, help="Position the command applies to; refused if the run has moved on."
)


@click.group("dbg", epilog=_EXAMPLES)
def command() -> None:
    """Step through, break into and inspect runs from the terminal.

    Commands apply to the session given with --session, or to the only one with an active run.
    """


command.add_command(sessions)
command.add_command(runs)
command.add_command(log)
command.add_command(events)
command.add_command(event)
command.add_command(break_group)
command.add_command(end)
command.add_command(tools)
command.add_command(try_)
command.add_command(fork)
command.add_command(note)
command.add_command(notes)
command.add_command(prompt)
command.add_command(rewind)
command.add_command(tag)
command.add_command(tags)
command.add_command(trace)
command.add_command(usage)


@command.command()
@click.argument("session", required=False)
@click.option(
    "--last", default=20, show_default=True, help="Number of recent events to print first."
)
@click.option("-s", "--session", "alias", metavar="KEY", help="The same as SESSION.")
@on_the_server
def attach(terminal: Terminal, session: str | None, last: int, alias: str | None) -> None:
    """Follow SESSION live, until Ctrl-C.

    Prints events, output, where the run is held, and pending changes.
    """
    if session is not None and alias is not None:
        raise BadRequestError("SESSION and --session can't be combined; give one of them")
    going = False
    try:
        row = session_of(terminal.client, session or alias)
        if not terminal.as_json:
            terminal.say(row, session_lines)
        after = _recent(terminal, row["key"], last)
        for news in news_of(terminal.client, row["key"], after, as_json=terminal.as_json):
            if news["type"] == "position":
                going = news["ended"] is None
            tell(terminal, news)
    except KeyboardInterrupt:
        say_after_interrupt("detached; the run continues" if going else "detached")
        sys.exit(LEFT)


def _recent(terminal: Terminal, session: int, last: int) -> int:
    """Print the last events and return the number of the newest."""
    rows = terminal.client.events(session, last=max(last, 0))
    for row in rows:
        terminal.say({"type": "event", **row}, event_lines)
    return int(rows[-1]["number"]) if rows else newest_number(terminal.client, session)


@command.command()
@click.argument("key", required=False)
@click.option("--at", type=int, help="Show the state as of this event.")
@click.option(
    "--from", "since", type=int, help="Show what changed since this event; 0 is the start."
)
@session_option
@on_the_server
def state(
    terminal: Terminal, key: str | None, *, at: int | None, since: int | None, session: str | None
) -> None:
    """Show the state, or just KEY: now, as of an event, or what changed between two events."""
    row = session_of(terminal.client, session)
    state = terminal.client.state(row["key"], at=at, from_=since)
    if key is not None:
        state["values"] = [each for each in state["values"] if each["key"] == key]
        state["pending"] = [each for each in state["pending"] if each["key"] == key]
        if "changes" in state:
            state["changes"] = [each for each in state["changes"] if each["key"] == key]
    terminal.say(state, state_lines if since is None else state_change_lines)


@command.command()
@click.argument("key")
@click.argument("path", required=False)
@click.option("--at", type=int, help="Show writes up to this event.")
@session_option
@on_the_server
def blame(
    terminal: Terminal, key: str, path: str | None, at: int | None, session: str | None
) -> None:
    """Show who wrote the state key KEY, or the value at PATH in it, such as steps[2].done."""
    row = session_of(terminal.client, session)
    terminal.say(terminal.client.key_history(row["key"], key, path=path, at=at), blame_lines)


@command.command()
@session_option
@on_the_server
def where(terminal: Terminal, session: str | None) -> None:
    """Show where the run stands, or how it ended."""
    row = session_of(terminal.client, session)
    terminal.say(terminal.client.newest_run(row["key"]), position_lines)


@command.command()
@session_option
@on_the_server
def why(terminal: Terminal, session: str | None) -> None:
    """Show what the run waits for: calls, tasks with file:line, people, a blocked event loop."""
    client = terminal.client
    row = session_of(client, session)
    run = row["run"] or client.newest_run(row["key"])["run"]
    terminal.say(client.activity(run), activity_lines)


@command.command()
@click.argument("message")
@session_option
@click.option("--new", "app", metavar="APP", help="Start in a new session of this app.")
@click.option("--no-pause", is_flag=True, help="Do not hold the first event.")
@on_the_server
def start(
    terminal: Terminal, message: str, session: str | None, app: str | None, no_pause: bool
) -> None:
    """Send MESSAGE, and hold the run before its first event."""
    client = terminal.client
    if app is not None and session is not None:
        raise BadRequestError("--new and --session can't be combined; give one of them")
    key = (client.new_session(app) if app is not None else session_of(client, session))["key"]
    before = newest_number(client, key)
    position = client.start_run(key, message=message, pause=not no_pause)
    say_end(terminal, position, before)


def _order(name: str, order: "CommandName", about: str) -> click.Command:
    @click.command(name, help=about)
    @session_option
    @_hold
    @_position
    @key_option
    @no_wait_option
    @on_the_server
    def send(terminal: Terminal, session: str | None, no_wait: bool, **options: Any) -> None:
        at = active_run(terminal.client, session, or_over=options["key"] is not None)
        _command(terminal, at, order, wait=not no_wait, **options)

    return send


def _change(name: "CommandName", about: str) -> click.Command:
    @click.command(name, help=f"{about} Use `-` to read it from standard input.", short_help=about)
    @click.argument("value")
    @session_option
    @_hold
    @_position
    @key_option
    @on_the_server
    def send(terminal: Terminal, value: str, session: str | None, **options: Any) -> None:
        text = sys.stdin.read() if value == "-" else value
        change = _value(name, text)
        position = active_run(terminal.client, session, or_over=options["key"] is not None)
        if name == "edit":
            change = merge_edit(position["holds"], options["hold"], change)
        _command(terminal, position, name, wait=False, value=change, **options)

    return send


def _command(
    terminal: Terminal, at: "PositionJson", order: "CommandName", *, wait: bool, **options: Any
) -> None:
    """Send a command, for the run's current position unless another one was given."""
    if options.get("position") is None:
        options["position"] = at["position"]
    before = newest_number(terminal.client, at["session"])
    position = terminal.client.command(at["run"], order, **options)
    (say_end if wait else say_where)(terminal, position, before)


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        if name in _TEXTS and not (name == "mock" and text.lstrip().startswith(_LIKE_JSON)):
            return text
        raise BadRequestError(f"VALUE is not valid JSON: {error}") from error


for _name, (_verb, _about) in _ORDERS.items():
    command.add_command(_order(_name, _verb, _about))
for _name, _about in _CHANGES.items():
    command.add_command(_change(_name, _about))
