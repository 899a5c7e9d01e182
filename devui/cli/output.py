"""Formats events, positions, state and breakpoints for the terminal.

Agents' texts are escaped so that they can't move the cursor or hide anything (R20).
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import click

from devui.web.text.debuggers import debugger_words
from devui.web.text.deceptive_characters import visible
from devui.web.text.difference import as_text, difference
from devui.web.text.gates import CHANGED, sentence
from devui.wire.gates import ORDERS, PLANS, original

_TAKES_VALUE: Final = frozenset({"edit", "mock"})
_DIFFERENCE_COLORS: Final[Mapping[str, str]] = {"+": "green", "-": "red"}


def edit_lines(hold: Mapping[str, Any]) -> Iterable[str]:
    """Yield the diff of an edit that will be applied when the run continues.

    `hold` is a hold in a position of the API, with its `edit`. A mocked answer is shown in full. An
    edit without a value, such as skipping a call, has no lines.
    """
    edit = hold["edit"]
    if edit["action"] not in _TAKES_VALUE:
        return
    is_edit = edit["action"] == "edit"
    before = as_text(original(hold["gate"], hold["held"])) if is_edit else ""
    for line in difference(before, as_text(edit["value"])):
        yield click.style(line, fg=_DIFFERENCE_COLORS.get(line[0]))


_COLORS: Final[Mapping[str, str]] = {
    "user": "blue",
    "call": "magenta",
    "result": "magenta",
    "state": "yellow",
    "error": "red",
    "human": "cyan",
    "held": "yellow",
    "failed": "red",
    "interrupted": "red",
    "done": "green",
}
_KIND: Final = 12
_AUTHOR: Final = 16
_MOST: Final = 200
_INDENT: Final = 6
_SPACE: Final = " " * _INDENT


def plain(text: str) -> str:
    """Return the text on one line, with control characters escaped."""
    return visible(text).replace("\r", "\\r").replace("\n", "\\n")


def times(count: int) -> str:
    """Return `once` or `3 times`."""
    return "once" if count == 1 else f"{count} times"


def event_lines(row: Mapping[str, Any]) -> list[str]:
    """Return `#12   call       planner          find_airports(city="London")` and who edited it."""
    number = click.style(f"#{row['number']:<5}", dim=True)
    kind = _colored(row["kind"], width=_KIND)
    line = f"{number}{kind}{plain(row['author']):<{_AUTHOR}} {plain(row['text'])}".rstrip()
    edits = (f"{CHANGED.get(e['action'], 'edited')} by {plain(e['by'])}" for e in row["edits"])
    changed = ", ".join(dict.fromkeys(edits))
    return [f"{line}  {click.style(changed, fg='yellow')}" if changed else line]


def position_lines(position: Mapping[str, Any]) -> list[str]:
    """Describe a run's position: its holds and their pending changes, its status and its error."""
    lines = [line for hold in position["holds"] for line in _hold(hold)]
    words = [] if position["position"] is None else [f"position {position['position']}"]
    words += [PLANS[position["plan"]]] if position["plan"] else []
    last = position.get("lastCommand")
    words += [f"{ORDERS[last['command']]} by {plain(last['actor'])}"] if last else []
    status = _colored(position["status"], width=_INDENT if words else 0)
    lines.append(f"{status}{' · '.join(words)}".rstrip())
    lines += debugger_lines(position.get("debugger"))
    if error := position.get("error"):
        lines += _failure_lines(error)
    return lines


def debugger_lines(debugger: Mapping[str, Any] | None) -> list[str]:
    """Describe a Python debugger that a person has to use before the run continues."""
    return [click.style(" ".join(debugger_words(debugger)), fg="yellow")] if debugger else []


def failure_words(error: Mapping[str, Any]) -> str:
    """Return `ConnectionError: 503 Service Unavailable`."""
    return ": ".join(filter(None, (error["type"], error["message"])))


def _failure_lines(error: Mapping[str, Any]) -> Iterable[str]:
    """Describe an exception and the app's own frames in its traceback, innermost last."""
    for line in failure_words(error).split("\n"):
        yield click.style(f"{_SPACE}{plain(line)}", fg="red")
    frames = error["frames"]
    if error["file"] and not any(_is_place(frame, error) for frame in frames):
        frames = [*frames, {"file": error["file"], "line": error["line"]}]
    for frame in frames:
        function = f" in {plain(frame['function'])}" if frame.get("function") else ""
        yield f"{_SPACE}  {plain(frame['file'])}:{frame['line']}{function}"
        if source := frame.get("source"):
            yield click.style(f"{_SPACE}    {plain(source)}", dim=True)


def _is_place(frame: Mapping[str, Any], error: Mapping[str, Any]) -> bool:
    return (frame["file"], frame["line"]) == (error["file"], error["line"])


def output_lines(line: Mapping[str, Any]) -> list[str]:
    """Format what the run printed or logged; indent all lines after the first."""
    first, *others = line["text"].split("\n")
    lines = [f"{_SPACE}{plain(line['stream'])}: {plain(first)}"]
    lines += [f"{_SPACE}  {plain(other)}" for other in others]
    return [click.style(each, dim=True) for each in lines]


def session_lines(session: Mapping[str, Any]) -> list[str]:
    """Return the line that identifies a session."""
    name = "/".join(plain(str(session[part])) for part in ("app", "user", "id"))
    title = f"  {plain(session['title'])}" if session["title"] else ""
    tags = ", ".join(map(plain, session["tags"]))
    line = click.style(f"session {session['key']}  {name}{title}", bold=True)
    return [f"{line}  [{tags}]" if tags else line]


def state_lines(state: Mapping[str, Any]) -> list[str]:
    """Format each key with its value and the event that wrote it, then the pending changes."""
    lines = [_value(value) for value in state["values"]]
    lines += [f"{_change(change)}  pending" for change in state["pending"]]
    return lines or ["the state is empty"]


def state_change_lines(state: Mapping[str, Any]) -> list[str]:
    """Format each difference, with the event that wrote the key."""
    lines = [line for key in state["changes"] for line in _differences(key)]
    return lines or ["no differences"]


def _differences(key: Mapping[str, Any]) -> Iterable[str]:
    by = f"#{key['number']}" if key["number"] else key["writer"] or ""
    for each in key["changes"]:
        path = each["path"]
        place = f"{key['key']}{'' if not path or path.startswith('[') else '.'}{path}"
        old = json_words(each["old"]) if "old" in each else "nothing"
        new = json_words(each["new"]) if "new" in each else "nothing"
        yield f"{plain(place)}: {old} → {new}  {click.style(by, dim=True)}".rstrip()


def breakpoint_lines(points: Iterable[Mapping[str, Any]]) -> list[str]:
    """Format a line per breakpoint: number, on or off, what it matches, how often it was hit."""
    return [_breakpoint(point) for point in points] or ["no breakpoints"]


def _hold(hold: Mapping[str, Any]) -> Iterable[str]:
    where = sentence(hold["gate"], hold["number"])
    yield f"{click.style(where, bold=True)}  ({_reason(hold)})"
    words = [hold["agent"], hold["kind"] or "", hold["text"] or _call(hold)]
    yield _SPACE + "  ".join(plain(word) for word in words if word)
    yield from (_SPACE + _change(change) for change in hold["changes"])
    if guard := hold["guard"]:
        yield click.style(f"{_SPACE}{_guard(guard)}", fg="yellow")
    if hold["edit"]:
        edit = f"{hold['edit']['action']} by {plain(hold['edit']['actor'])}"
        yield f"{_SPACE}{edit}, applied when the run continues"
        yield from (_SPACE + line for line in edit_lines(hold))
    if hold["problem"]:
        yield click.style(f"{_SPACE}{plain(hold['problem'])}", fg="red")


def _call(hold: Mapping[str, Any]) -> str:
    args = hold["held"].get("args") or {}
    arguments = ", ".join(f"{name}={json_words(value)}" for name, value in args.items())
    return f"{hold['tool']}({arguments})" if hold["tool"] else ""


def _guard(guard: Mapping[str, Any]) -> str:
    before = guard["recorded"]
    if before is None:
        return f"{guard['effect']}: already ran before"
    args = "the same" if guard["sameArgs"] else "different"
    result = json_words(before["result"])
    return f"{guard['effect']}: #{before['number']} returned {result} for {args} arguments"


def _reason(hold: Mapping[str, Any]) -> str:
    met = hold["breakpoint"]
    return f"hold {hold['id']}, {hold['reason']}{'' if met is None else f' {met}'}"


def _change(change: Mapping[str, Any]) -> str:
    old = json_words(change["old"]) if "old" in change else "nothing"
    line = f"{plain(change['key'])}: {old} → {json_words(change['new'])}"
    if "original" not in change:
        return line
    return f"{line}  (edited: the code wrote {json_words(change['original'])})"


def _value(value: Mapping[str, Any]) -> str:
    by = f"  #{value['number']}" if value["number"] else ""
    return f"{plain(value['key'])} = {json_words(value['value'])}{click.style(by, dim=True)}"


def _breakpoint(point: Mapping[str, Any]) -> str:
    name = "" if point["name"] == "*" else f":{point['name']}"
    words = [f"{point['on']}{name}"]
    words += [point["when"]] if point["when"] != "before" else []
    words += [f"agent {point['agent']}"] if point["agent"] != "*" else []
    words += [f"if {point['condition']}"] if point["condition"] else []
    words += [f"hits {point['hit']}"] if point["hit"] else []
    words += [f"log {point['log']}"] if point["log"] else []
    own = point["users"].items()
    words += [f"{'on' if switched else 'off'} for {user}" for user, switched in own]
    switch = "on " if point["enabled"] else "off"
    met = f"  hit {times(point['hits'])}" if point["hits"] else ""
    return f"{point['id']:>4}  {switch}  {plain(point['app'])}  {plain('  '.join(words))}{met}"


def json_words(value: Any) -> str:
    """Return a value as JSON on one line, truncated if it is long."""
    text = plain(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def _colored(word: str, *, width: int) -> str:
    """Return the word in its color, padded to `width` with at least one space, unless it is 0."""
    text = f"{word:<{width - 1}} " if width else word
    return click.style(text, fg=_COLORS.get(word))
