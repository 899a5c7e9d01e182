"""Describes gates and deadlocks in words."""

from collections.abc import Mapping, Sequence
from typing import Any, Final


def deadlock(circle: Sequence[int], activity: Mapping[str, Any]) -> str:
    """Describe a deadlock of the tasks with these ids; `activity` is the run's, from the API."""
    tasks = {task["id"]: task for task in activity["tasks"]}
    calls = {call["task"]: call["name"] for call in activity["calls"]}
    names = " and ".join(str(each) for each in circle)
    sentence = f"Deadlock: tasks {names} are waiting for each other."
    if len(circle) == 1:
        sentence = f"Deadlock: task {names} is waiting for itself."
    stands = [_stands(tasks[each], calls.get(each)) for each in circle if each in tasks]
    return f"{sentence} {'; '.join(stands)}." if stands else sentence


def _stands(task: Mapping[str, Any], call: str | None) -> str:
    """Return `2 is teller's pay at agent.py:13`; for a task of the agent's code, `2 is at …`."""
    who = f"{task['agent']}'s {call}" if call else str(task["agent"] or "")
    own = [place for place in task["places"] if place["own"]]
    where = f" at {own[-1]['file']}:{own[-1]['line']}" if own else ""
    return f"{task['id']} is {who}{where}" if who else f"{task['id']} is{where}"


SENTENCES: Final[Mapping[str, str]] = {
    "before_commit": "Paused before the commit",
    "after_commit": "Paused after the commit, before the agent continues",
    "enter_agent": "Paused before the agent starts",
    "leave_agent": "Paused after the agent",
    "before_model": "Paused before the model call",
    "after_model": "Paused after the model call",
    "before_tool": "Paused before the tool call",
    "after_tool": "Paused after the tool call",
}

HOLDING: Final[Mapping[str, str]] = {
    "before_commit": "event",
    "after_commit": "event",
    "enter_agent": "agent",
    "leave_agent": "agent",
    "before_model": "request",
    "after_model": "response",
    "before_tool": "arguments",
    "after_tool": "result",
}
"""What is held at a gate."""

CHANGED: Final[Mapping[str, str]] = {
    "edit": "edited",
    "mock": "mocked",
    "skip": "skipped",
    "reject": "rejected",
    "drop": "dropped",
    "end": "ended",
}
"""What an edit did to what was held, by its action."""


def sentence(gate: str, number: int | None) -> str:
    """Describe the gate, with the event's number, if any: `Paused before the commit of #3`."""
    text = SENTENCES.get(gate, gate)
    return text.replace("the commit", f"the commit of #{number}") if number else text
