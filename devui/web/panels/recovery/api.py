"""Recovery over HTTP: close interrupted invocations, rewind and fork sessions."""

import json
from typing import Any

from pydantic import Field, model_validator
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.events.first_event import FirstEvent
from devui.debugger.guard.guard import Policy
from devui.debugger.recovery.answers import DecisionRequired
from devui.debugger.recovery.cutoff import Cutoff, CutoffStatus, cutoff
from devui.debugger.recovery.fork_maker import ForkRequest, Reason
from devui.debugger.secrets.redaction import Redactor
from devui.store.rows import ForkRow, SessionRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import Conflict
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Refusal, operation
from devui.web.panels.recovery.actions import (
    ask_no_more,
    invocation_of,
    make_fork,
    rewind_session,
    run_fork,
)
from devui.web.panels.runs.api import unknown_json
from devui.web.panels.runs.schemas import PositionJson, UnknownCallJson
from devui.web.security.intake import read_json
from devui.web.services import Services

_LIMIT = 20_000_000


class ForkBody(Strict):
    """`POST /api/sessions/{key}/forks`."""

    number: int = Field(ge=0)
    """The last event of the fork; 0 makes a fork without events."""
    message: bool = False
    """Leave out a user's message, so that you can send a different one."""
    state: dict[str, Any] | None = None
    """State keys to set, in a separate event."""
    event: FirstEvent | None = None
    """Replaces the last event, which keeps its id, invocation, author and time."""
    note: str | None = Field(default=None, max_length=2000)
    id: str | None = None
    run: bool = False
    """Send the message, or resume the invocation at the fork."""
    streaming: bool | None = None
    """Defaults to that of the run being repeated or resumed."""
    guard: Policy = "ask"
    actor: str = Field(default="api", max_length=100)


class RewindBody(Strict):
    """`POST /api/sessions/{key}/rewind`: to before an invocation, or before that of an event."""

    invocation_id: str | None = None
    number: int | None = None
    message: str | None = None
    streaming: bool | None = None
    """Defaults to that of the run being repeated or resumed."""
    guard: Policy = "ask"
    actor: str = Field(default="api", max_length=100)

    @model_validator(mode="after")
    def _one(self) -> "RewindBody":
        if (self.invocation_id is None) == (self.number is None):
            raise ValueError("give either invocationId or number")
        return self


class StreamedTextJson(TypedDict):
    """Streamed text of an answer that never became an event."""

    author: str
    text: str


class CutoffJson(TypedDict):
    """Where the newest invocation stopped."""

    status: CutoffStatus
    run: str | None
    invocationId: str | None
    last: int | None
    question: int | None
    lost: list[Any]
    streamed: list[StreamedTextJson]
    unknown: list[UnknownCallJson]
    unsentMessage: dict[str, Any] | None
    """The message of its run that never became an event, as a Content."""


class ForkJson(TypedDict):
    """Where a session was forked from."""

    key: int
    id: str | None
    parent: int
    number: int
    reason: Reason
    note: str | None
    invocationId: str | None
    created: float


class LineageJson(TypedDict):
    """A session with its parent, siblings and forks."""

    key: int
    id: str
    app: str
    user: str
    events: int
    fork: ForkJson | None
    siblings: list[ForkJson]
    forks: list[ForkJson]


class NewForkJson(LineageJson):
    """A new fork."""

    run: str | None
    detail: str | None
    """Why the run didn't start; the fork exists."""
    unknown: list[UnknownCallJson]


@operation(CutoffJson)
async def show_cutoff(request: Request) -> Response:
    """Get a session's interruption: what was lost, and which calls have an unknown outcome.

    The guide explains [resuming](#resuming).
    """
    services, session = await session_of(request)
    stands = await cutoff(services.journal, session.key, services.runs.live(session.key))
    return answer(_cutoff_json(stands, services.view.hiding()))


@operation(CutoffJson)
async def close(request: Request) -> Response:
    """Mark an interrupted invocation as stopped.

    Ends it without resuming it.
    """
    services, session = await session_of(request)
    await ask_no_more(services, session)
    stands = await cutoff(services.journal, session.key, None)
    return answer(_cutoff_json(stands, services.view.hiding()))


@operation(NewForkJson, status=201, body=ForkBody)
async def fork(request: Request) -> Response:
    """Fork a session at an event.

    Makes a session from the events up to `number`. The guide explains
    [forking and going back](#forking-and-going-back).
    """
    services, session = await session_of(request)
    body = parse(ForkBody, await read_json(request, limit=_LIMIT, allow_runtime_json=True))
    fork_request = ForkRequest(
        number=body.number,
        message=body.message,
        state=body.state,
        event=body.event.model_dump(by_alias=True, exclude_none=True) if body.event else None,
        note=body.note,
        actor=body.actor,
        id=body.id,
    )
    child = await make_fork(services, session, fork_request)
    members: dict[str, Any] = {
        **await lineage_of(services, child),
        "run": None,
        "unknown": [],
        "detail": None,
    }
    if body.run:
        try:
            members["run"] = await run_fork(
                services, child, streaming=body.streaming, policy=body.guard, actor=body.actor
            )
        except DecisionRequired as error:
            members["unknown"] = [unknown_json(call) for call in error.calls]
            members["detail"] = str(error)
        except Conflict as error:  # the fork exists anyway
            members["detail"] = str(error)
    return answer(members, status=201)


@operation(LineageJson)
async def forks(request: Request) -> Response:
    """Get a session's parent, siblings and forks."""
    services, session = await session_of(request)
    return answer(await lineage_of(services, session))


@operation(
    PositionJson,
    status=201,
    body=RewindBody,
    refusals=(Refusal(409, "Other messages came in between"),),
)
async def rewind(request: Request) -> Response:
    """Rewind a session to before an invocation, optionally with a new message.

    `number` or `invocationId` names the invocation.
    The rewind is a run of its own.
    """
    services, session = await session_of(request)
    body = parse(RewindBody, await read_json(request, limit=_LIMIT, allow_runtime_json=True))
    invocation = body.invocation_id or await invocation_of(services, session, body.number or 0)
    row = await rewind_session(
        services,
        session,
        invocation,
        text=body.message,
        streaming=body.streaming,
        policy=body.guard,
        actor=body.actor,
    )
    return answer(await services.runs.position(row), status=201)


async def lineage_of(services: Services, session: SessionRow) -> dict[str, Any]:
    """Return a session with its fork record, its siblings and its forks, as JSON."""
    journal = services.journal
    row = await journal.forks.get(session.key)
    siblings = await journal.forks.of(row.parent) if row else []
    return {
        "key": session.key,
        "id": session.id,
        "app": session.app,
        "user": session.user,
        "events": session.events,
        "fork": await _fork(services, row) if row else None,
        "siblings": [
            await _fork(services, each) for each in siblings if each.session != session.key
        ],
        "forks": [await _fork(services, each) for each in await journal.forks.of(session.key)],
    }


async def _fork(services: Services, row: ForkRow) -> dict[str, Any]:
    child = await services.journal.sessions.get(row.session)
    return {
        "key": row.session,
        "id": child.id if child else None,
        "parent": row.parent,
        "number": row.number,
        "reason": row.reason,
        "note": row.note,
        "invocationId": row.invocation,
        "created": row.created,
    }


def _cutoff_json(stands: Cutoff, redactor: Redactor) -> CutoffJson:
    return {
        "status": stands.status,
        "run": stands.run.id if stands.run else None,
        "invocationId": stands.invocation,
        "last": stands.last.number if stands.last else None,
        "question": stands.question,
        "lost": list(stands.lost),
        "streamed": [
            {"author": author, "text": redactor.growing(text)} for author, text in stands.streamed
        ],
        "unknown": [unknown_json(call) for call in stands.unknown],
        "unsentMessage": json.loads(stands.run.message)
        if stands.run and stands.run.message
        else None,
    }
