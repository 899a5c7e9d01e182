"""A comparison as lines of a terminal."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import click

from devui.cli.lines import json_words, plain

_SIGNS: Final = {"changed": "≠", "left": "-", "right": "+", "moved": "↕"}
_COLOURS: Final = {"changed": "yellow", "left": "red", "right": "green"}
_WIDE: Final = 60
_SPACE: Final = " " * 6

Events = Mapping[int, Mapping[str, Any]]
Numbers = tuple[int | None, int | None]


def comparison_lines(
    told: Mapping[str, Any],
    left: Events,
    right: Events,
    *,
    details: Mapping[Numbers, Sequence[str]],
) -> list[str]:
    """Both sides, what is the same in brief, each row that differs, and what came of it."""
    lines = [_side("left ", told["left"]), _side("right", told["right"])]
    for same, rows in groupby(told["rows"], key=lambda row: row["kind"] == "same"):
        if same:
            lines.append(_same(list(rows)))
            continue
        for row in rows:
            lines.append(_row(row, left, right))
            lines += details.get((row["left"], row["right"]), ())
    return [*lines, _verdict(told)]


def events_lines(told: Mapping[str, Any]) -> list[str]:
    """What differs between two events, a line each."""
    lines = []
    for section in told["sections"]:
        name = plain(section["name"])
        about = f"{section['aspect']} of {name}" if name else section["aspect"]
        lines += [f"{_SPACE}{about}{_change(each)}" for each in section["changes"]]
    for key in told["state"] or ():
        about = f"{_SPACE}state after them: {plain(key['key'])}"
        lines += [f"{about}{_change(each)}" for each in key["changes"]]
    if told["prompts"] and told["prompts"]["differing"]:
        lines.append(f"{_SPACE}sent to the models: {', '.join(told['prompts']['differing'])}")
    return lines


def _change(change: Mapping[str, Any]) -> str:
    path = f" {plain(change['path'])}" if change["path"] else ""
    old = json_words(change["old"]) if "old" in change else "nothing"
    new = json_words(change["new"]) if "new" in change else "nothing"
    return f"{path}: {old} → {new}"


def _side(label: str, side: Mapping[str, Any]) -> str:
    name = "/".join(plain(str(side[part])) for part in ("app", "user", "id"))
    title = f"  {plain(side['title'])}" if side["title"] else ""
    cut = f"  without its last {side['leftOut']}" if side["leftOut"] else ""
    status = side["status"] or "not run yet"
    head = click.style(f"{label} {side['name']}  {name}{title}", bold=True)
    return f"{head}  {status}, {side['events']} events{cut}"


def _same(rows: Sequence[Mapping[str, Any]]) -> str:
    first, last = rows[0], rows[-1]
    count = "1 event" if len(rows) == 1 else f"{len(rows)} events"
    places = f"#{first['left']}" + (f" to #{last['left']}" if len(rows) > 1 else "")
    return click.style(f"=     {count} the same, {places}", dim=True)


def _row(row: Mapping[str, Any], left: Events, right: Events) -> str:
    sign = click.style(f"{_SIGNS[row['kind']]:<6}", fg=_COLOURS.get(row["kind"]))
    sides = [_event(row[name], events) for name, events in (("left", left), ("right", right))]
    words = ["another step"] if row["otherStep"] else []
    words += row["aspects"]
    if row["elsewhere"]:
        words.append(f"its partner is #{row['elsewhere']}")
    told = f"  ({', '.join(words)})" if words else ""
    return sign + " | ".join(filter(None, sides)) + told


def _event(number: int | None, events: Events) -> str:
    row = events.get(number) if number else None
    if row is None:
        return ""
    text = plain(f"#{row['number']} {row['kind']} {row['author']}: {row['text']}")
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def _verdict(told: Mapping[str, Any]) -> str:
    if told["equal"]:
        return click.style("no difference", fg="green")
    count = told["differences"]
    first = told["first"]["left"] or told["first"]["right"]
    where = f"#{first}" + ("" if first == told["first"]["left"] else " on the right")
    noun = "difference" if count == 1 else "differences"
    return click.style(f"{count} {noun}, the first at {where}", fg="yellow")
