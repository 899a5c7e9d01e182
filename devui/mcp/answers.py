"""The texts that coding agents read: short lines, with the numbers needed for the next call.

The reader pays for every character. So each value is shortened, with a count of what is left out,
and an answer as a whole is truncated at `MOST` characters.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from devui.client import Client
from devui.wire.gates import original
from devui.wire.merge_patch import difference

MOST: Final = 6000
"""The maximum number of characters of an answer, about 1,500 tokens."""

_TEXT: Final = 300
_MEMBERS: Final = 20
_LEVELS: Final = 8
_LEAST: Final = 20
_ROW: Final = 200
_ROWS: Final = 1000
"""The maximum number of events that the server lists at once."""
_TRACEBACK: Final = 1200


def cut(text: str, advice: str = "", *, most: int = MOST, start: int = 0) -> str:
    """Return at most `most` characters from `start` on, the number of those that follow, and the
    `advice` on how to get them."""
    end = start + most
    if len(text) <= end:
        return text[start:]
    more = f"… {quantity(len(text) - end, 'more character')}"
    return f"{text[start:end]}\n{more}{f'; {advice}' if advice else ''}"


def short(value: Any, *, text: int = _TEXT, levels: int = _LEVELS) -> Any:
    """Return the value with long texts and lists shortened, and without empty members."""
    if isinstance(value, str):
        rest = len(value) - text
        return value if rest <= _LEAST else f"{value[:text]}… {rest:,} more characters"
    if isinstance(value, Mapping | list) and not levels:
        return f"… {len(value)} more"
    if isinstance(value, Mapping):
        members = [(name, each) for name, each in value.items() if each not in (None, "", [], {})]
        short_members = {k: short(v, text=text, levels=levels - 1) for k, v in members[:_MEMBERS]}
        return short_members | (
            {"…": f"{len(members) - _MEMBERS} more"} if len(members) > _MEMBERS else {}
        )
    if isinstance(value, list):
        items = [short(each, text=text, levels=levels - 1) for each in value[:_MEMBERS]]
        return items + ([f"… {len(value) - _MEMBERS} more"] if len(value) > _MEMBERS else [])
    return value


def as_json(value: Any) -> str:
    """Return the value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def short_json(value: Any, most: int = _TEXT) -> str:
    """Return the value as JSON, truncated at `most` characters."""
    return str(short(as_json(value), text=most))


def row_line(row: Mapping[str, Any]) -> str:
    """Return `#5 result planner: search → {"found": 3}`, with people's edits and devui's notes."""
    marks = [f"{edit['action']} by {edit['by']}" for edit in row["edits"]]
    marks += [f"{note['kind']} state {note['key']}" for note in row["notes"]]
    marks += [f"taken back by #{row['rewoundBy']}"] if row.get("rewoundBy") else []
    about = short(one_line(row["text"]), text=_ROW)
    return f"#{row['number']} {row['kind']} {row['author']}: {about}" + _in_brackets(marks)


def position_lines(position: Mapping[str, Any]) -> Iterator[str]:
    """Yield a run's position: its holds, what their commits would change, and the last command."""
    words = [position["status"]]
    words += [f"position {position['position']}"] if position["position"] is not None else []
    if last := position.get("lastCommand"):
        words.append(f"last command {last['command']} by {last['actor']}")
    yield f"run {position['run']} of session {position['session']}: {', '.join(words)}"
    if error := position.get("error"):
        yield f"  {failure(error)}"
    for hold in position["holds"]:
        yield from _hold_lines(hold)
    for branch in position["branches"]:
        if branch["status"] != "held":
            yield f"  beside it, {branch['agent']} {branch['status']}: {branch['doing']}"


def _hold_lines(hold: Mapping[str, Any]) -> Iterator[str]:
    point = f" {hold['breakpoint']}" if hold["breakpoint"] else ""
    what = hold["text"] or hold["tool"] or ""
    place = hold["gate"] + (f" of #{hold['number']}" if hold["number"] else "")
    yield f"  hold {hold['id']}: {place} ({hold['reason']}{point}) {hold['agent']} {what}".rstrip()
    verb = "wrote" if hold["gate"] == "after_commit" else "would write"
    for change in hold["changes"]:
        yield f"    {verb} {change_line(change)}"
    yield f"    held: {short_json(short(hold['held']), _TRACEBACK)}"
    if edit := hold["edit"]:
        yield f"    {edit['action']} by {edit['actor']}: {_edit_text(hold, edit)}"
    if hold["problem"]:
        yield f"    problem: {hold['problem']}"
    if hold["guard"]:
        yield f"    this tool ran before: {short_json(short(hold['guard']))}"
    if hold["actions"]:
        yield f"    can be changed with: {', '.join(hold['actions'])}"


def change_line(change: Mapping[str, Any]) -> str:
    """Return `bill: 84.0 → 75.6`, and what the agent's code wrote if an edit replaces it."""
    old = short_json(change["old"]) if "old" in change else "nothing"
    new = short_json(change["new"]) if "new" in change else "nothing"
    line = f"{change['key']}: {old} → {new}"
    if "original" not in change:
        return line
    return f"{line}, edited: the code wrote {short_json(change['original'])}"


def _edit_text(hold: Mapping[str, Any], edit: Mapping[str, Any]) -> str:
    """Return what an edit changes in the held value; for other actions, their value."""
    value = edit["value"]
    if edit["action"] == "edit":
        value = difference(original(hold["gate"], hold["held"]), value)
    return short_json(value, _TRACEBACK)


def run_line(run: Mapping[str, Any]) -> str:
    """Return `run 8c1f… #1 to #7 failed: ValueError: …, at faulty/bill.py:33`."""
    where = f"#{run['first']} to #{run['last']}" if run["first"] else "no events"
    line = f"run {run['run']} {where} {run['status']}"
    error = run["error"]
    if not error:
        return line
    place = f", at {error['file']}:{error['line']}" if error.get("file") else ""
    return f"{line}: {short(one_line(failure(error)))}{place}"


def failure(error: Mapping[str, Any]) -> str:
    """Return the error as `ValueError: what was wrong`."""
    return ": ".join(str(error[part]) for part in ("type", "message") if error[part])


def traceback_lines(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the end of the traceback of a failed run."""
    text = ((run["error"] or {}).get("traceback") or "").strip()
    if text:
        yield text if len(text) <= _TRACEBACK else f"…{text[-_TRACEBACK:]}"


def question_line(question: Mapping[str, Any]) -> str:
    """Return what an agent asks, and the fields of an answer."""
    fields = [short_json(short(field)) for field in question["fields"]]
    about = one_line(str(question["about"] or question["hint"] or question["name"]))
    choices = f"; choices {short_json(question['choices'])}" if question["choices"] else ""
    return f"#{question['event']} {question['agent']} asks: {about}; fields {fields}{choices}"


def outcome(client: Client, position: Mapping[str, Any], before: int) -> str:
    """Return what was committed after event `before`, then the run's position and why it failed."""
    session = position["session"]
    rows = client.events(session, last=_ROWS)
    lines = [*position_lines(position)]
    if position["status"] == "failed":
        runs = client.runs(session)
        lines += [line for run in runs[-1:] for line in traceback_lines(run)]
    if position["ended"] is not None:
        questions = client.questions(session)
        lines += [question_line(each) for each in questions]
    if position["status"] in {"running", "stopping"}:
        lines.append("still running: call what_happened again, or why_stuck")
    committed = [row_line(row) for row in rows if row["number"] > before]
    advice = f"what_happened with after={before}"
    return with_newest(committed, lines, noun="earlier event", advice=advice)


def with_newest(
    rows: Sequence[str], lines: Sequence[str], *, noun: str, advice: str, head: str = ""
) -> str:
    """Return as many of the newest rows as fit, followed by these lines, which matter most.

    `noun` and `advice` say what was left out and how to get it.
    """
    budget = MOST - sum(len(line) + 1 for line in (head, *lines))
    first = len(rows)
    while first and (budget := budget - len(rows[first - 1]) - 1) > 0:
        first -= 1
    note = [f"… {quantity(first, noun)}: {advice}"] if first else []
    return join_lines([*filter(None, [head]), *note, *rows[first:], *lines])


def join_lines(lines: Iterable[str], advice: str = "") -> str:
    """Join the lines to one answer, truncated if necessary."""
    return cut("\n".join(lines), advice)


def quantity(number: int, noun: str) -> str:
    """Return `1 event` or `12 events`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def one_line(text: str) -> str:
    """Return the text with line breaks escaped, so that a value can't pass for a line of ours."""
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _in_brackets(marks: Iterable[str]) -> str:
    text = ", ".join(dict.fromkeys(marks))
    return f"  [{text}]" if text else ""
