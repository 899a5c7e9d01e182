"""Writes to state before a commit, their readers, and the outcome of each, over HTTP."""

from itertools import groupby
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.runs.uncommitted import Outcome, touch_json, touch_outcomes
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.runs.api import number_in
from devui.web.panels.state.uncommitted import is_over, touches_of

_MOST = 10_000


class _TouchJson(TypedDict):
    run: str
    number: int
    """Its number within the run; writes and reads are counted together."""
    key: str
    agent: str
    """Empty if unknown."""
    branch: str | None
    tool: str | None
    call: str | None
    role: str
    """The callback, if one wrote or read it."""
    place: str
    """File, line and function in the agents' code."""
    at: float
    outcome: Outcome
    event: int | None


class StateWriteJson(_TouchJson):
    """A write of state before its commit, and its outcome."""

    old: Any
    """The committed value."""
    value: Any
    """The value at the time of the write."""
    paths: list[str]
    """Where a value was changed without a delta."""
    flagged: int | None
    """The event at whose commit the change was found."""
    overlaps: int | None
    """Another writer's write of the key at the same time."""


class StateReadJson(_TouchJson):
    """A read of a write before its commit."""

    reads: int
    """The number of the write."""


class UncommittedStateJson(TypedDict):
    """Writes before a commit, and their readers."""

    writes: list[StateWriteJson]
    reads: list[StateReadJson]


@operation(
    UncommittedStateJson,
    query={
        "run": Query(str, "Only those of this run"),
        "event": Query(int, "Only what this event committed, read or was flagged with"),
    },
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """List uncommitted state: who wrote it, who read it, and what became of it.

    See [state before its commit](debugging.md#state-before-its-commit).
    """
    services, session = await session_of(request)
    run, event = request.query_params.get("run"), number_in(request, "event")
    if run is None:
        rows = await services.journal.uncommitted.of_session(session.key, _MOST)
        live = services.runs.live(session.key)
        if live is not None:
            rows = [row for row in rows if row.run != live.row.id]
            rows += live.touches.rows(live.row.id, session.key)
    else:
        of_run = await touches_of(services, session.key, run)
        rows = [row for row in of_run if row.session == session.key]
    writes: list[dict[str, Any]] = []
    reads: list[dict[str, Any]] = []
    for name, group in groupby(rows, key=lambda row: row.run):
        for item in touch_outcomes(group, over=is_over(services, session.key, name)):
            if event is None or event in {item.event, item.flagged}:
                target = writes if item.touch.reads is None else reads
                target.append(touch_json(item, name))
    return answer({"writes": writes, "reads": reads})
