"""Where a run stands, as JSON, in the form shared by the API, the pages and the journal."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

from devui.debugger.guard.guard import Ruling
from devui.debugger.runs.activity import branches_of
from devui.debugger.runs.live import LiveRun
from devui.debugger.stepping.commands import ALLOWED
from devui.debugger.stepping.stepper import Hold, Stepper
from devui.store.rows import RunRow
from devui.wire.errors import frames

_MOST_FRAMES: Final = 20


def position_of(live: LiveRun) -> dict[str, Any]:
    """Return the position of a run in progress."""
    stepper = live.stepper
    return {
        **_run(live.row),
        "status": _status(live),
        "position": stepper.position,
        "plan": stepper.plan.name if stepper.plan else None,
        "holds": held_of(stepper),
        "branches": branches_of(live) if stepper.holds else [],
        "heldSeconds": stepper.pauses.before,
        "lastCommand": _last(stepper),
        "debugger": live.debugging.as_json(),
    }


def position_after(row: RunRow, lost_holds: list[Any]) -> dict[str, Any]:
    """Return the position of a run that is over; `lost_holds` are its holds when it was cut off."""
    over = {"position": None, "plan": None, "holds": [], "branches": [], "lost": lost_holds}
    return {**_run(row), **over, "error": _error(row)}


def held_of(stepper: Stepper, arriving: Hold | None = None) -> list[dict[str, Any]]:
    """Return the holds, oldest first, followed by the one that is about to begin, if any."""
    holds = stepper.holds if arriving is None else [*stepper.holds, arriving]
    return [_hold(hold) for hold in holds]


def _error(row: RunRow) -> dict[str, Any] | None:
    """Return the error of a run that failed or was cut off, with the app's own frames."""
    error = json.loads(row.error) if row.error else None
    if not error:
        return None
    place = {name: error.get(name) for name in ("type", "message", "file", "line")}
    return {**place, "frames": list(islice(_own_frames(error), _MOST_FRAMES))}


def _own_frames(error: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the frames of the app's own code in a traceback, outermost first.

    A traceback has absolute paths; the error's own file is relative to the agents folder, so
    comparing the two tells where that folder is.
    """
    file, traceback = str(error.get("file") or ""), str(error.get("traceback") or "")
    every = [*frames(traceback)]
    whole = next((each.file for each in every if each.file.endswith(f"/{file}")), None)
    if not file or whole is None:
        return
    root = whole.removesuffix(file)
    for frame in every:
        if frame.function and frame.file.startswith(root) and "/site-packages/" not in frame.file:
            yield {
                "file": frame.file.removeprefix(root),
                "line": frame.line,
                "function": frame.function,
                "source": frame.source,
            }


def _status(live: LiveRun) -> str:
    if live.row.ended is not None:
        return live.row.status
    if live.stopping:
        return "stopping"
    return "held" if live.stepper.holds else live.row.status


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "run": row.id,
        "session": row.session,
        "invocationId": row.invocation_id,
        "status": row.status,
        "started": row.started,
        "ended": row.ended,
    }


def _hold(hold: Hold) -> dict[str, Any]:
    arrival = hold.arrival
    return {
        "id": hold.id,
        "gate": arrival.gate,
        "agent": arrival.agent,
        "path": list(arrival.path),
        "branch": arrival.branch,
        "kind": arrival.summary.kind if arrival.summary else None,
        "text": arrival.summary.text if arrival.summary else None,
        "number": arrival.number,
        "tool": arrival.tool,
        "schema": arrival.schema,
        "call": arrival.call,
        "since": hold.since,
        "paused": hold.paused,
        "reason": hold.reason,
        "breakpoint": hold.breakpoint,
        "held": arrival.payload,
        "actions": sorted(ALLOWED.get(arrival.gate, ())),
        "edit": asdict(hold.edit) if hold.edit else None,
        "problem": arrival.problem,
        "changes": hold.changes,
        "guard": _guard(hold.ruling) if hold.ruling else None,
    }


def _guard(ruling: Ruling) -> dict[str, Any]:
    """Return the tool's effect, and what it returned before for these or other arguments."""
    offer = ruling.offer
    fields = {
        "effect": ruling.effect.effect,
        "source": ruling.effect.source,
        "sameArgs": ruling.same_args,
    }
    if offer is None:
        return {**fields, "recorded": None}
    place = {"session": offer.session, "number": offer.number}
    record = {**place, "args": dict(offer.args), "result": dict(offer.result)}
    return {**fields, "recorded": record}


def _last(stepper: Stepper) -> dict[str, Any] | None:
    last = stepper.last
    if last is None:
        return None
    command = last.command
    return {"command": command.name, "actor": command.actor, "key": command.key, "at": last.at}
