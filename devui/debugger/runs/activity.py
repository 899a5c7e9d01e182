"""What a run waits for, as JSON, in the form shared by the API and the pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from devui.debugger.runs.live import LiveRun
from devui.debugger.stepping.stepper import Hold
from devui.store.rows import RunRow
from devui.wire.inspection import InspectedCall, InspectedTask, Inspection, Place
from devui.wire.messages import LoopBlocked

_OF_OTHERS = frozenset({"task", "tasks"})
"""The `waits` of tasks that only wait for other tasks of their run."""


@dataclass(frozen=True, slots=True)
class RunActivity:
    """A run, and what it waits for."""

    run: RunRow
    report: Mapping[str, Any]
    """What `activity_of` or `activity_after` returned."""
    event: int | None = None
    """The event whose run it is; None for the newest run."""


def activity_of(live: LiveRun, inspection: Inspection | None, *, status: str) -> dict[str, Any]:
    """Return where a run in progress stands and what it waits for.

    If the worker doesn't answer, its calls aren't lost: those of its newest answer are returned.
    """
    newest = inspection or live.inspection
    return {
        "run": live.row.id,
        "session": live.session.key,
        "status": status,
        "answered": inspection is not None,
        "lastProgress": live.last_progress.at,
        "silentSeconds": live.last_progress.seconds,
        "debugger": live.debugging.as_json(),
        "blocked": _blocker(live, inspection),
        "branches": branches_of(live),
        "calls": [asdict(call) for call in newest.calls] if newest else [],
        "tasks": [asdict(task) for task in inspection.tasks] if inspection else [],
        "deadlocks": deadlocks(inspection.tasks) if inspection else [],
        "questions": [],
    }


def activity_after(run: str, session: int, status: str, questions: Sequence[Any]) -> dict[str, Any]:
    """Return the same for a run that is over, which can only wait for a person."""
    return {
        "run": run,
        "session": session,
        "status": status,
        "answered": False,
        "lastProgress": None,
        "silentSeconds": 0.0,
        "debugger": None,
        "blocked": None,
        "branches": [],
        "calls": [],
        "tasks": [],
        "deadlocks": [],
        "questions": list(questions),
    }


def branches_of(live: LiveRun) -> list[dict[str, Any]]:
    """Return the parallel branches of a run: those held, oldest first, then those that aren't.

    The latter come from the newest inspection of the run, if there was one since the last command.
    """
    holds = [_hold(hold) for hold in live.stepper.holds]
    inspection = live.inspection
    return [*holds, *_others(inspection, live.stepper.holds)] if inspection else holds


def deadlocks(tasks: Sequence[InspectedTask]) -> list[list[int]]:
    """Return the circles of tasks that wait for each other, each circle once."""
    following = {task.id: task.awaits for task in tasks}
    circles: list[list[int]] = []
    visited: set[int] = set()
    for task in tasks:
        path: list[int] = []
        at: int | None = task.id
        while at is not None and at not in path and at not in visited:
            path.append(at)
            at = following.get(at)
        if at in path:
            circles.append(path[path.index(at) :])
        visited.update(path)
    return circles


def _others(inspection: Inspection, holds: Sequence[Hold]) -> Iterator[dict[str, Any]]:
    calls = {call.task: call for call in inspection.calls}
    working = [task for task in inspection.tasks if task.waits not in _OF_OTHERS]
    for task in working or inspection.tasks[:1]:
        if task.waits == "gate" or (task.waits == "commit" and task.id == inspection.tasks[0].id):
            continue  # these are the holds themselves
        call = calls.get(task.id)
        behind = task.waits == "commit"
        if behind and any(_same(hold, task) for hold in holds):
            continue
        yield _other(task, call, "behind" if behind else "running")


def _same(hold: Hold, task: InspectedTask) -> bool:
    return (hold.arrival.agent, hold.arrival.branch) == (task.agent, task.branch)


def _other(task: InspectedTask, call: InspectedCall | None, status: str) -> dict[str, Any]:
    place = call.place if call and call.place else _own(task.places)
    return {
        "status": status,
        "agent": call.agent if call else task.agent,
        "branch": call.branch if call else task.branch,
        "doing": call.name if call else "",
        "call": call.call if call else None,
        "since": call.since if call else None,
        "place": asdict(place) if place else None,
        "waits": task.waits,
        "task": task.id,
        "hold": None,
    }


def _hold(hold: Hold) -> dict[str, Any]:
    arrival = hold.arrival
    return {
        "status": "held",
        "agent": arrival.agent,
        "branch": arrival.branch,
        "doing": arrival.tool or (arrival.summary.text if arrival.summary else ""),
        "call": arrival.call,
        "since": hold.since,
        "place": None,
        "waits": "gate",
        "task": None,
        "hold": hold.id,
    }


def _own(places: Sequence[Place]) -> Place | None:
    return next((place for place in reversed(places) if place.own), None)


def _blocker(live: LiveRun, inspection: Inspection | None) -> dict[str, Any] | None:
    """Return what blocks the event loop and for how long: this run, or another one of the app."""
    blocked = live.blocked
    if inspection is None or not inspection.blocked:
        return None if blocked is None or inspection is not None else _holder(blocked)
    running = next((task for task in inspection.tasks if task.waits == "running"), None)
    if running is None:
        holder = _holder(blocked) if blocked else {"run": None, "tool": "", "place": None}
        return {**holder, "seconds": inspection.blocked}
    tools = [
        call.name for call in inspection.calls if (call.task, call.kind) == (running.id, "tool")
    ]
    return {
        "seconds": inspection.blocked,
        "run": live.row.id,
        "tool": next(iter(tools), ""),
        "place": asdict(_own(running.places) or running.places[-1]),
    }


def _holder(blocked: LoopBlocked) -> dict[str, Any]:
    """Return the same as the worker reported it unasked."""
    fields = asdict(blocked)
    return {name: fields[name] for name in ("seconds", "run", "tool", "place")}
