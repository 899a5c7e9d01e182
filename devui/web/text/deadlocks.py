"""A deadlock in words: which calls wait for each other, and at which line each of them stands."""

from collections.abc import Mapping, Sequence
from typing import Any


def deadlock(circle: Sequence[int], standing: Mapping[str, Any]) -> str:
    """Of the tasks with these ids; `standing` is what the API tells of the run."""
    tasks = {task["id"]: task for task in standing["tasks"]}
    calls = {call["task"]: call["name"] for call in standing["calls"]}
    names = " and ".join(str(each) for each in circle)
    said = f"Tasks {names} wait for each other: a deadlock."
    if len(circle) == 1:
        said = f"Task {names} waits for what it has itself: a deadlock."
    stands = [_stands(tasks[each], calls.get(each)) for each in circle if each in tasks]
    return f"{said} {'; '.join(stands)}." if stands else said


def _stands(task: Mapping[str, Any], call: str | None) -> str:
    """`2 is teller's pay at agent.py:13`; of a task that agent code began: `2 stands at …`."""
    who = f"{task['agent']}'s {call}" if call else str(task["agent"] or "")
    own = [place for place in task["places"] if place["own"]]
    where = f" at {own[-1]['file']}:{own[-1]['line']}" if own else ""
    return f"{task['id']} is {who}{where}" if who else f"{task['id']} stands{where}"
