"""What a replay came to, as lines of a terminal."""

import json
from typing import Any

from devui.cli.lines import plain
from devui.wire.excerpts import around_difference

_LONG = 200


def verdict_lines(verdict: dict[str, Any], first: int, last: int) -> list[str]:
    """The verdict on the run of these events, with the first difference explained."""
    begin, *more = _lines(verdict)
    return [f"#{first} to #{last} {begin}", *more]


def _lines(verdict: dict[str, Any]) -> list[str]:
    found = verdict["divergence"]
    notes = [f"  note: {plain(note)}" for note in verdict["notes"]]
    if found is None:
        aside = " but for results of tools" if verdict.get("strayed") else ""
        live = f", {verdict['live']} live tools" if verdict["live"] else ""
        answers = f"{verdict['calls']} recorded answer{'' if verdict['calls'] == 1 else 's'}"
        said = f"{_count(verdict)}{aside}, {answers}{live}"
        return [f"{_word(verdict)}: {said}", *notes]
    lines = [f"diverged: {plain(found['message'])}", f"  {_count(verdict)} before that"]
    for each in found["differences"]:
        lines.append(f"  {plain(each['field'] or 'value')}")
        before, now = each["expected"], each["actual"]
        lines += [f"    - {_value(before, now)}", f"    + {_value(now, before)}"]
    if not found["differences"] and found["expected"] is not None:
        lines.append(f"  expected: {_value(found['expected'])}")
    if not found["differences"] and found["actual"] is not None:
        lines.append(f"  actual:   {_value(found['actual'])}")
    if found["nearest"] is not None:
        lines.append(f"  recorded next: {_value(found['nearest'])}")
    return [*lines, *notes]


def _word(verdict: dict[str, Any]) -> str:
    if verdict["identical"]:
        return "identical"
    return "other results" if verdict.get("strayed") else "not finished"


def _count(verdict: dict[str, Any]) -> str:
    return f"{verdict['events']} of {verdict['recorded']} events as recorded"


def _value(value: Any, other: Any = None) -> str:
    """The value as JSON; of a long one the part from shortly before it differs from the other."""
    text, beside = (plain(json.dumps(each, ensure_ascii=False)) for each in (value, other))
    return around_difference(text, beside, _LONG)
