"""Going on, going back and going another way over HTTP: resume, close, rewind, fork."""

import json
from typing import Any

from pydantic import Field, JsonValue, model_validator
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.event_shape import FirstEvent
from devui.debugger.guard.guard import Policy
from devui.debugger.recovery.answers import Undecided
from devui.debugger.recovery.cutoff import Cutoff, cutoff
from devui.debugger.recovery.forking import ForkRequest
from devui.debugger.redaction import Redactor
from devui.store.forkrows import ForkRow
from devui.store.rows import SessionRow
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer, unknown_told
from devui.web.errors import Conflict
from devui.web.recovery import ask_no_more, forked, invocation_of, rewound, run_fork
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.views.lookup import session_of

_LIMIT = 20_000_000


class ForkBody(Strict):
    """`POST /api/sessions/{key}/forks`."""

    number: int = Field(ge=0)
    message: bool = False
    state: dict[str, JsonValue] | None = None
    event: FirstEvent | None = None
    note: str | None = Field(default=None, max_length=2000)
    id: str | None = None
    run: bool = False
    streaming: bool = True
    guard: Policy = "ask"
    actor: str = Field(default="api", max_length=100)


class RewindBody(Strict):
    """`POST /api/sessions/{key}/rewind`: to before an invocation, or the one of an event."""

    invocation_id: str | None = None
    number: int | None = None
    message: str | None = None
    streaming: bool = True
    guard: Policy = "ask"

    @model_validator(mode="after")
    def _one(self) -> "RewindBody":
        if (self.invocation_id is None) == (self.number is None):
            raise ValueError("give either invocationId or number")
        return self


async def show_cutoff(request: Request) -> Response:
    """How the session stands, what was lost, and which calls are of unknown outcome."""
    found, session = await session_of(request)
    stands = await cutoff(found.journal, session.key, found.runs.live(session.key))
    return answer(_told(stands, found.veil.redactor()))


async def close(request: Request) -> Response:
    """Ask no more about what was cut off."""
    found, session = await session_of(request)
    await ask_no_more(found, session)
    stands = await cutoff(found.journal, session.key, None)
    return answer(_told(stands, found.veil.redactor()))


async def fork(request: Request) -> Response:
    """Make a session of the events up to one; it does not run unless told so."""
    found, session = await session_of(request)
    body = parse(ForkBody, await read_json(request, limit=_LIMIT))
    wanted = ForkRequest(
        number=body.number,
        message=body.message,
        state=body.state,
        event=body.event.model_dump(by_alias=True, exclude_none=True) if body.event else None,
        note=body.note,
        actor=body.actor,
        id=body.id,
    )
    made = await forked(found, session, wanted)
    told: dict[str, Any] = {**await lineage_of(found, made), "run": None, "unknown": []}
    told["detail"] = None
    if body.run:
        try:
            told["run"] = await run_fork(
                found, made, streaming=body.streaming, policy=body.guard, actor=body.actor
            )
        except Undecided as error:
            told["unknown"] = [unknown_told(call) for call in error.calls]
            told["detail"] = str(error)
        except Conflict as error:  # the fork is made all the same
            told["detail"] = str(error)
    return answer(told, status=201)


async def forks(request: Request) -> Response:
    """Where the session comes from, and what was forked from it."""
    found, session = await session_of(request)
    return answer(await lineage_of(found, session))


async def rewind(request: Request) -> Response:
    """Take the session back; with a message, that is said next."""
    found, session = await session_of(request)
    body = parse(RewindBody, await read_json(request, limit=_LIMIT))
    invocation = body.invocation_id or await invocation_of(found, session, body.number or 0)
    row = await rewound(
        found,
        session,
        invocation,
        text=body.message,
        streaming=body.streaming,
        policy=body.guard,
    )
    return answer(await found.runs.position(row), status=201)


async def lineage_of(found: Services, session: SessionRow) -> dict[str, Any]:
    """A session, the fork that it is, and the forks of it and of its parent."""
    journal = found.journal
    row = await journal.forks.get(session.key)
    siblings = await journal.forks.of(row.parent) if row else []
    return {
        "key": session.key,
        "id": session.id,
        "app": session.app,
        "user": session.user,
        "events": session.events,
        "fork": await _fork(found, row) if row else None,
        "siblings": [await _fork(found, each) for each in siblings if each.session != session.key],
        "forks": [await _fork(found, each) for each in await journal.forks.of(session.key)],
    }


async def _fork(found: Services, row: ForkRow) -> dict[str, Any]:
    child = await found.journal.sessions.get(row.session)
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


def _told(stands: Cutoff, redactor: Redactor) -> dict[str, Any]:
    return {
        "standing": stands.standing,
        "run": stands.run.id if stands.run else None,
        "invocationId": stands.invocation,
        "last": stands.last.number if stands.last else None,
        "question": stands.question,
        "lost": list(stands.lost),
        "streamed": [
            {"author": author, "text": redactor.growing(text)} for author, text in stands.streamed
        ],
        "unknown": [unknown_told(call) for call in stands.unknown],
        "unsaid": json.loads(stands.run.message) if stands.run and stands.run.message else None,
    }
