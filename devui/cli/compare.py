"""`devui compare`: compares two sessions or runs, in the terminal and in scripts."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import click

from devui.cli.follow import news_of
from devui.cli.lookup import GOING, session_of
from devui.cli.output import json_words, plain
from devui.cli.replay import divergence_lines
from devui.cli.server import Terminal, on_the_server
from devui.client import Client
from devui.failures import BadRequestError, DevuiError, NotFoundError
from devui.web.text.formats import event_numbers, plural

if TYPE_CHECKING:
    from devui.web.panels.compare.api import ComparisonJson
    from devui.web.panels.timeline.api import EventRowJson


_SIGNS: Final = {"changed": "≠", "left": "-", "right": "+", "moved": "↕"}
_COLORS: Final = {"changed": "yellow", "left": "red", "right": "green"}
_WIDE: Final = 60
_SPACE: Final = " " * 6

Events = Mapping[int, Mapping[str, Any]]
Numbers = tuple[int | None, int | None]


def comparison_lines(
    comparison: Mapping[str, Any],
    left: Events,
    right: Events,
    *,
    details: Mapping[Numbers, Sequence[str]],
) -> list[str]:
    """Format both sides, each row that differs, equal rows in brief, and the verdict."""
    lines = [_side_line("left ", comparison["left"]), _side_line("right", comparison["right"])]
    for kind, rows in groupby(comparison["rows"], key=_folded):
        if kind:
            lines.append(_stretch(kind, list(rows)))
            continue
        for row in rows:
            lines.append(_row(row, left, right))
            lines += details.get((row["left"], row["right"]), ())
    return [*lines, _verdict_line(comparison)]


def events_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Format the differences between two events, one per line."""
    lines = []
    for section in comparison["sections"]:
        name = plain(section["name"])
        about = f"{section['aspect']} of {name}" if name else section["aspect"]
        lines += [f"{_SPACE}{about}{_change(each)}" for each in section["changes"]]
    for key in comparison["state"] or ():
        about = f"{_SPACE}state after them: {plain(key['key'])}"
        lines += [f"{about}{_change(each)}" for each in key["changes"]]
    if comparison["prompts"] and comparison["prompts"]["aspects"]:
        lines.append(f"{_SPACE}sent to the models: {', '.join(comparison['prompts']['aspects'])}")
    return lines


def _change(change: Mapping[str, Any]) -> str:
    path = f" {plain(change['path'])}" if change["path"] else ""
    old = json_words(change["old"]) if "old" in change else "nothing"
    new = json_words(change["new"]) if "new" in change else "nothing"
    return f"{path}: {old} → {new}"


def _side_line(label: str, side: Mapping[str, Any]) -> str:
    name = "/".join(plain(str(side[part])) for part in ("app", "user", "id"))
    title = f"  {plain(side['title'])}" if side["title"] else ""
    cut = f"  excluding its last {side['omitted']}" if side["omitted"] else ""
    status = side["status"] or "not run yet"
    head = click.style(f"{label} {side['name']}  {name}{title}", bold=True)
    return f"{head}  {status}, {plural(side['events'], 'event')}{cut}"


def _folded(row: Mapping[str, Any]) -> str:
    """Return the kind of a row that shares a line with its neighbors; "" for other rows."""
    return "later" if row["later"] else "same" if row["kind"] == "same" else ""


def _stretch(kind: str, rows: Sequence[Mapping[str, Any]]) -> str:
    side = "left" if rows[0]["left"] else "right"
    first, last = rows[0][side], rows[-1][side]
    places = event_numbers(first, last)
    if kind == "later":
        count = plural(len(rows), "later event")
        return click.style(f"…     {count} on the {rows[0]['kind']}, {places}", dim=True)
    return click.style(f"=     {plural(len(rows), 'event')} the same, {places}", dim=True)


def _row(row: Mapping[str, Any], left: Events, right: Events) -> str:
    sign = click.style(f"{_SIGNS[row['kind']]:<6}", fg=_COLORS.get(row["kind"]))
    sides = [_event(row[name], events) for name, events in (("left", left), ("right", right))]
    words = ["different step"] if row["otherStep"] else []
    words += row["aspects"]
    if row["movedTo"]:
        words.append(f"counterpart #{row['movedTo']}")
    suffix = f"  ({', '.join(words)})" if words else ""
    return sign + " | ".join(filter(None, sides)) + suffix


def _event(number: int | None, events: Events) -> str:
    row = events.get(number) if number else None
    if row is None:
        return ""
    text = plain(f"#{row['number']} {row['kind']} {row['author']}: {row['text']}")
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def _verdict_line(comparison: Mapping[str, Any]) -> str:
    if comparison["equal"]:
        return click.style("no difference", fg="green")
    count = comparison["differences"]
    first = comparison["first"]["left"] or comparison["first"]["right"]
    where = f"#{first}" + ("" if first == comparison["first"]["left"] else " on the right")
    return click.style(f"{plural(count, 'difference')}, the first at {where}", fg="yellow")


def runs_on_other_engine(terminal: Terminal, side: str) -> Iterator[tuple[str, str]]:
    """Replay each run of a session, or the one that `12@2` names; yield it and its replay as sides.

    Prints the first point at which the code diverged, which may not show in any event, as with a
    changed prompt.

    Raises BadRequestError if the session has no run to replay, DevuiError if a run can't be
    executed on the other engine.
    """
    client = terminal.client
    session, _, place = side.partition("@")
    all_runs: Sequence[Mapping[str, Any]] = client.runs(int(session))
    runs = [
        (number, run)
        for number, run in enumerate(all_runs, 1)
        if run["first"] is not None
        and not run["rewind"]
        and run["status"] not in GOING
        and place in {"", str(number)}
    ]
    if not runs:
        raise BadRequestError(f"session {side} has no finished run to replay on the other engine")
    for number, run in runs:
        replay: Mapping[str, Any] = client.start_replay(
            int(session), run=run["run"], engine="other", breakpoints=False
        )
        for news in news_of(client, replay["session"], run["first"] - 1, run=replay["run"]):
            is_replay = news["type"] == "position" and news["run"] == replay["run"]
            if is_replay and news["ended"] is not None:
                break
        divergence = _verdict(client, replay["run"])["divergence"]
        if divergence is not None and not terminal.as_json:
            click.echo("\n".join(divergence_lines(divergence)))
        yield f"{session}@{number}", f"{replay['session']}@{_place(client, replay)}"


def _verdict(client: Client, run: str) -> Mapping[str, Any]:
    """Return the verdict. Raises DevuiError if the replay couldn't run, as without google-adk."""
    verdict = client.replay(run)["verdict"]
    if verdict is None:
        error = client.run(run)["error"]
        raise DevuiError(
            f"the other engine could not execute the run: {error['message'] if error else ''}"
        )
    return verdict


def _place(client: Client, replay: Mapping[str, Any]) -> int:
    """Return the number of a replay among the runs of its session, from 1."""
    runs = client.runs(replay["session"])
    return next(number for number, run in enumerate(runs, 1) if run["run"] == replay["run"])


DIFFERING: Final = 1
"""The exit status if the two differ, as with diff."""
_NUMBERED: Final = re.compile(r"\d+(@\d+)?", re.ASCII)
_PAGE: Final = 1000

_EXAMPLES = """\b
Examples:
  devui compare 12 15         two sessions
  devui compare 12@1 12@2     the first and the second run of session 12
  devui compare 12 15 --json  the aligned rows, for a script
  devui compare 12 --engines  each run of session 12 with the same run on the other engine

Exit status: 0 if nothing differs, 1 if something does, 2 on wrong usage or a server error, 3 if no
server is running, 4 if the token is wrong, 5 if a session or run doesn't exist.
"""


class ComparisonFailed(DevuiError):
    """An error that exits with 1 in other commands; here, 1 means that the two differ."""

    exit_code = 2


@click.command("compare", epilog=_EXAMPLES, short_help="Show how two sessions or runs differ.")
@click.argument("left")
@click.argument("right", required=False)
@click.option(
    "--engines",
    is_flag=True,
    help="Run LEFT on the other engine (google-adk or devui) and compare.",
)
@click.option(
    "--values", is_flag=True, help="Show the differences of every row, not only the first."
)
@on_the_server
def command(
    terminal: Terminal, left: str, right: str | None, *, engines: bool, values: bool
) -> None:
    """Compare LEFT with RIGHT: sessions by number or id, or single runs such as 12@2.

    Events are aligned by content, not by number. Ids, times, token counts and the commit order of
    parallel branches are ignored.

    With --engines, each run of LEFT is replayed on the other engine, in a fork, with its recorded
    answers. No model or tool is called.
    """
    if not (engines or right):
        raise click.UsageError("Missing argument 'RIGHT' or option --engines.")
    if engines and right:
        raise click.UsageError("--engines compares LEFT with itself; omit RIGHT.")
    try:
        client = terminal.client
        pairs = [(left, right)] if right else runs_on_other_engine(terminal, _side(client, left))
        comparisons = [_compare(terminal, *pair, values=values) for pair in pairs]
    except DevuiError as error:
        if error.exit_code == DIFFERING:
            raise ComparisonFailed(error.message) from error
        raise
    if not all(each["equal"] for each in comparisons):
        sys.exit(DIFFERING)


def _compare(terminal: Terminal, left: str, right: str, *, values: bool) -> "ComparisonJson":
    client = terminal.client
    sides = _side(client, left), _side(client, right)
    comparison = client.compare(*sides)
    if terminal.as_json:
        terminal.say(comparison, lambda _: [])
        return comparison
    events = [_events(client, side) for side in (comparison["left"], comparison["right"])]
    rows = (
        [row for row in comparison["rows"] if row["differs"]] if values else [comparison["first"]]
    )
    details = {
        (row["left"], row["right"]): events_lines(_pair(client, sides, row)) for row in rows if row
    }
    terminal.say(comparison, lambda value: comparison_lines(value, *events, details=details))
    return comparison


def _side(client: Client, text: str) -> str:
    """Return a side in the form that the API expects. Session ids may contain `@`."""
    if _NUMBERED.fullmatch(text):
        return text
    try:
        return str(session_of(client, text)["key"])
    except NotFoundError:
        session, at, place = text.rpartition("@")
        if not at or not place.isdigit():
            raise
        return f"{session_of(client, session)['key']}@{place}"


def _events(client: Client, side: Mapping[str, Any]) -> "dict[int, EventRowJson]":
    """Return the events of the session by number."""
    rows: list[EventRowJson] = []
    while True:
        after = rows[-1]["number"] if rows else None
        page = client.events(side["session"], after=after, limit=_PAGE)
        rows += page
        if len(page) < _PAGE:
            return {row["number"]: row for row in rows}


def _pair(client: Client, sides: tuple[str, str], row: Mapping[str, Any]) -> Any:
    left, right = row["left"] or row["movedTo"], row["right"] or row["movedTo"]
    return client.compare_events(*sides, left_event=left, right_event=right)
