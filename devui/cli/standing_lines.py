"""What holds a run up, as lines of a terminal: calls, tasks, questions, who has the event loop."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from devui.cli.lines import plain
from devui.web.text.deadlocks import deadlock

_SPACE: Final = " " * 6


def standing_lines(standing: Mapping[str, Any]) -> list[str]:
    """How long nothing came, then everything that the run waits for."""
    silent = standing["silentSeconds"]
    since = f"  nothing new for {silent:.1f} s" if standing["progressed"] else ""
    lines = [click.style(standing["status"], bold=True) + since]
    lines += _blocked(standing["blocked"]) if standing["blocked"] else []
    lines += [
        click.style(plain(deadlock(circle, standing)), fg="red") for circle in standing["deadlocks"]
    ]
    lines += [line for call in standing["calls"] for line in _call(call)]
    lines += [_held(each) for each in standing["branches"] if each["status"] == "held"]
    lines += [line for task in standing["tasks"] for line in _task(task)]
    lines += [_question(asked) for asked in standing["questions"]]
    return lines if len(lines) > 1 else [*lines, "nothing is waited for"]


def _blocked(blocked: Mapping[str, Any]) -> list[str]:
    by = f" by {plain(blocked['tool'])}" if blocked["tool"] else ""
    text = f"the event loop has not turned for {blocked['seconds']:.1f} s: it is held{by}"
    return [click.style(text, fg="red"), *_place(blocked["place"])]


def _call(call: Mapping[str, Any]) -> list[str]:
    name = f"{call['kind']} {plain(call['name'])}"
    what = f"call {call['id']}  {name}  {plain(call['about'])}".rstrip()
    told = ", told to end" if call["told"] else ""
    about = f"{what}  by {plain(call['agent'])}, {call['seconds']:.1f} s{told}"
    return [about, *_place(call["place"])]


def _held(branch: Mapping[str, Any]) -> str:
    return f"held  hold {branch['hold']}: {plain(branch['agent'])}  {plain(branch['doing'])}"


def _task(task: Mapping[str, Any]) -> Iterable[str]:
    on = f" ({plain(task['on'])})" if task["on"] else ""
    awaits = "" if task["awaits"] is None else f", task {task['awaits']}"
    waits = "runs" if task["waits"] == "running" else f"waits for {task['waits']}"
    yield f"task {task['id']}  {plain(task['agent'])}  {waits}{on}{awaits}"
    for place in task["places"]:
        yield from _place(place) if place["own"] else ()


def _question(asked: Mapping[str, Any]) -> str:
    asks = f"{plain(asked['agent'])} {plain(asked['asks'])}"
    asker = asked["for"]
    whose = f" for the {asker['kind']} {plain(asker['name'])}" if asker else ""
    return f"a person has to answer #{asked['event']}: {asks}{whose}  {plain(asked['name'])}"


def _place(place: Mapping[str, Any] | None) -> list[str]:
    if place is None:
        return []
    where = f"{plain(place['file'])}:{place['line']} in {plain(place['function'])}"
    return [click.style(f"{_SPACE}{where}  {plain(place['source'])}".rstrip(), dim=True)]
