"""The debugger over HTTP: start a run, see where it stands, tell it how to go on.

Everything that the pages do with a held run is done here, too (docs/guide/api.md).
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.guard.guard import Policy
from devui.debugger.recovery.answers import CallAnswer, Settled, Undecided, opening
from devui.debugger.recovery.unknown import UnknownCall
from devui.debugger.runrequest import RunRequest
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.commands import (
    CallOrder,
    Command,
    CommandName,
    CommandRefused,
    Like,
    Misused,
)
from devui.store.rows import EditRow, SessionRow
from devui.web.api.bodies import AnswerBody, Content, Strict, parse
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.recovery import first_guard, settled
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number
from devui.web.unmasked import unmasked_hold
from devui.web.views.lookup import session_of

LONGEST_WAIT = 30
"""Seconds that one request may wait for a new position."""

_MESSAGE_LIMIT = 20_000_000
_SESSIONS = 200


class StartBody(Strict):
    """`POST /api/sessions/{key}/runs`."""

    message: str | Content | None = None
    invocation_id: str | None = None
    state_delta: dict[str, JsonValue] | None = None
    streaming: bool = True
    pause: bool = False
    watch: bool = False
    guard: Policy = "ask"
    """In the first run of a fork: what becomes of tools that its parent has run behind it."""
    unknown: dict[str, AnswerBody] = Field(default_factory=dict)
    """By the call's id, when resuming: what becomes of calls of unknown outcome."""
    actor: str = Field(default="api", max_length=100)


class LikeBody(Strict):
    """What `run_to` runs to."""

    gate: GateKind = "before_commit"
    kind: str | None = None
    agent: str | None = None
    tool: str | None = None


class CommandBody(Strict):
    """`POST /api/runs/{run}/commands`."""

    command: CommandName
    key: str = Field(min_length=1, max_length=200)
    position: int | None = None
    hold: int | None = None
    like: LikeBody | None = None
    value: JsonValue = None
    actor: str = Field(default="api", max_length=100)

    def told(self) -> Command:
        """The order itself."""
        return Command(
            name=self.command,
            key=self.key,
            position=self.position,
            hold=self.hold,
            like=Like(**self.like.model_dump()) if self.like else None,
            value=self.value,
            actor=self.actor,
        )


class CallBody(Strict):
    """`POST /api/runs/{run}/calls`."""

    command: Literal["end", "answer"]
    key: str = Field(min_length=1, max_length=200)
    call: int | Annotated[str, Field(min_length=1, max_length=1000)]
    """The `id` of a call under way, as the run's standing tells it; or, if one call alone is meant
    by it, its `call` or its `name`."""
    value: JsonValue = None
    """Of `answer` the answer, of `end` a text that says why."""
    actor: str = Field(default="api", max_length=100)

    def told(self) -> CallOrder:
        """The order itself."""
        return CallOrder(
            name=self.command, key=self.key, call=self.call, value=self.value, actor=self.actor
        )


async def start(request: Request) -> Response:
    """Start a run, or resume an invocation, and answer at once with where it stands."""
    found, session = await session_of(request)
    body = parse(StartBody, await read_json(request, limit=_MESSAGE_LIMIT))
    if body.message is None and body.invocation_id is None:
        raise BadRequest("message is required, or invocationId to resume an invocation")
    decided: tuple[Settled, ...] = ()
    if body.message is None and body.invocation_id is not None:
        answers = call_answers(body.unknown)
        try:
            decided = await settled(found, session, body.invocation_id, answers, actor=body.actor)
        except Undecided as error:
            told = {"detail": str(error), "unknown": [unknown_told(each) for each in error.calls]}
            return answer(told, status=409)
    guard = await first_guard(
        found, session, body.guard, invocation=body.invocation_id, settled=decided
    )
    row = await found.runs.start(
        session,
        RunRequest(
            opening=opening(decided),
            guard=guard,
            message=_message(body.message),
            invocation=body.invocation_id,
            state_delta=body.state_delta,
            streaming=body.streaming,
            pause=body.pause,
            watch=body.watch,
            actor=body.actor,
        ),
    )
    return answer(await found.runs.position(row.id), status=201)


async def sessions(request: Request) -> Response:
    """Sessions with their keys: of `?app=`, of its `&user=`, or the one that is `&id=` there; or
    the one of `?key=`.

    `?starred=yes` gives those with a star.
    """
    found, query = services(request), request.query_params
    app, user, name = query.get("app"), query.get("user"), query.get("id")
    rows: Sequence[SessionRow]
    if (key := number_in(request, "key")) is not None:
        row = await found.journal.sessions.get(key)
        rows = [row] if row else []
    elif query.get("starred"):
        rows = await found.journal.sessions.starred(app, _SESSIONS)
    elif app is None:
        rows = await found.journal.sessions.recent(_SESSIONS)
    elif user is not None and name is not None:
        row = await found.journal.sessions.find(app, user, name)
        rows = [row] if row else []
    else:
        rows = await found.journal.sessions.list(app, user, limit=_SESSIONS)
    keys = [row.key for row in rows]
    notes = await found.journal.notes.of_sessions(keys)
    imported = await found.journal.imports.among(keys)
    told = []
    for row in rows:
        note = notes.get(row.key)
        about = {
            "starred": bool(note and note.starred),
            "note": note.text if note else "",
            "imported": row.key in imported,
        }
        told.append({**_session(found, row), **about})
    return answer({"sessions": told})


async def newest(request: Request) -> Response:
    """Where the session's newest run stands."""
    found, session = await session_of(request)
    row = await found.journal.runs.newest(session.key)
    if row is None:
        raise NotFound(f"session {session.key} has no run yet")
    return answer(await found.runs.position(row.id))


async def show(request: Request) -> Response:
    """Where a run stands; with `?after=POSITION`, as soon as it stands elsewhere."""
    found, run = services(request), request.path_params["run"]
    after, seconds = number_in(request, "after"), number_in(request, "seconds")
    if after is None:
        return answer(await found.runs.position(run))
    wait = LONGEST_WAIT if seconds is None else min(seconds, LONGEST_WAIT)
    return answer(await _position_after(found, run, after, seconds=wait))


async def standing(request: Request) -> Response:
    """What the run waits for: calls, holds, tasks with their await stacks, questions."""
    found, run = services(request), request.path_params["run"]
    return answer(await found.runs.standing(run))


async def command(request: Request) -> Response:
    """Tell a run how to go on; a refusal carries the position that the run is at."""
    found, run = services(request), request.path_params["run"]
    body = parse(CommandBody, await read_json(request, limit=_MESSAGE_LIMIT))
    if body.value is not None:
        body.value = await unmasked_hold(found, run, body.value)
    try:
        return answer(await found.runs.command(run, body.told()))
    except CommandRefused as refused:
        return _refusal(refused)


async def end_call(request: Request) -> Response:
    """End one call that is under way, or answer in its place; the run goes on."""
    found, run = services(request), request.path_params["run"]
    body = parse(CallBody, await read_json(request, limit=_MESSAGE_LIMIT))
    try:
        return answer(await found.runs.end_call(run, body.told()))
    except CommandRefused as refused:
        return _refusal(refused)


def _refusal(refused: CommandRefused) -> Response:
    status = 422 if isinstance(refused, Misused) else 409
    return answer({"detail": str(refused), "position": refused.position}, status=status)


def _session(found: Services, row: SessionRow) -> dict[str, Any]:
    live = found.runs.live(row.key)
    return {
        "key": row.key,
        "app": row.app,
        "user": row.user,
        "id": row.id,
        "title": row.title,
        "events": row.events,
        "updated": row.updated,
        "run": live.row.id if live else None,
    }


async def edits(request: Request) -> Response:
    """What people changed in the session: what was held before, and what they put there."""
    found, session = await session_of(request)
    return answer({"edits": [_edit(row) for row in await found.journal.edits.list(session.key)]})


def _edit(row: EditRow) -> dict[str, Any]:
    edit = asdict(row.edit)
    del edit["turn"]  # for replays alone
    told = {name: json.loads(edit.pop(name)) for name in ("before", "after")}
    return {"id": row.id, **edit, **told}


async def _position_after(found: Services, run: str, after: int, *, seconds: int) -> dict[str, Any]:
    until = time.monotonic() + seconds
    session = (await found.runs.position(run))["session"]
    with found.bus.subscribe(session) as reader:
        while True:
            position = await found.runs.position(run)
            left = until - time.monotonic()
            stands = position["position"]
            moved = stands is None or stands > after
            if moved or left <= 0:
                return position
            try:
                if not await asyncio.wait_for(reader.batch(), left):
                    return position
            except TimeoutError:
                continue


def answer(value: Mapping[str, Any], *, status: int = 200) -> Response:
    """JSON in ASCII, which every client reads whatever odd characters an agent made.

    Always an object, never a list, which a page of another origin could run as a script (R05).
    """
    text = json.dumps(value, separators=(",", ":"))
    return Response(text, status_code=status, media_type="application/json")


def call_answers(bodies: Mapping[str, AnswerBody]) -> dict[str, CallAnswer]:
    """Decisions as they come in a body."""
    return {
        name: CallAnswer(do=each.do, result=each.result, reason=each.reason)
        for name, each in bodies.items()
    }


def unknown_told(call: UnknownCall) -> dict[str, Any]:
    """A call of unknown outcome as JSON."""
    return {
        "id": call.id,
        "tool": call.tool,
        "agent": call.agent,
        "args": dict(call.args),
        "event": call.event,
        "mark": call.mark,
        "recorded": call.recorded,
        "writes": dict(call.writes),
        "default": call.default,
        "asks": call.asks,
        "later": call.later,
        "made": call.made,
        "answered_by": call.answered_by or None,
    }


def _message(given: str | Content | None) -> dict[str, Any] | None:
    if given is None:
        return None
    if isinstance(given, str):
        if not given.strip():
            raise Unprocessable("write a message first")
        return {"role": "user", "parts": [{"text": given}]}
    message = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**message, "role": "user"}


def number_in(request: Request, name: str) -> int | None:
    """The whole number of a query, or None without one; raises BadRequest."""
    text = request.query_params.get(name)
    number = whole_number(text)
    if text is not None and number is None:
        raise BadRequest(f"{name} has to be a whole number")
    return number
