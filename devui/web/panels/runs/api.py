"""The debugger over HTTP: start a run, read its position, send it commands.

It offers everything that the pages do with a held run (docs/guide/api.md).
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.guard.guard import Policy
from devui.debugger.predicates.expressions import similar
from devui.debugger.recovery.answers import CallAnswer, CallDecision, DecisionRequired, opening
from devui.debugger.recovery.unknown_calls import UnknownCall
from devui.debugger.runs.options import last_options
from devui.debugger.runs.request import RunRequest
from devui.debugger.stepping.arrivals import GateKind
from devui.debugger.stepping.commands import (
    CallOrder,
    Command,
    CommandName,
    CommandRefused,
    InvalidCommand,
    Like,
)
from devui.store.rows import EditRow, SessionRow
from devui.store.session_lists import Choice, Sort
from devui.store.tags import TagChoice, folded
from devui.web.adk.bodies import AnswerBody, parse
from devui.web.adk.contents import Delta, Message, Strict
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.apps.session_list import ListQuery, sessions_on_page
from devui.web.panels.recovery.actions import decisions_for, first_guard
from devui.web.panels.runs.output import last_output, output_after
from devui.web.panels.runs.schemas import (
    CommandRefusedJson,
    DecisionsRequiredJson,
    EditsJson,
    OutputLinesJson,
    PositionJson,
    RunActivityJson,
    SessionsJson,
    UnknownCallJson,
)
from devui.web.panels.settings.reading import SettingsBody, settings_of_body
from devui.web.restored_secrets import restore_held_secrets
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number

LONGEST_WAIT = 30
"""Seconds that one request may wait for a new position."""

MESSAGE_BYTES = 20_000_000
_SESSIONS = 200
_LINES = 1000
_MOST_LINES = 10_000
_OF_LIST: Final = frozenset({"status", "q", "sort", "order", "page"})
"""Parameters that turn the answer into a page of an app's list."""
_NOT_OF_LIST: Final = frozenset({"user", "id", "key", "starred", "tag"})
"""Parameters that such a page doesn't support."""


class StartBody(Strict):
    """`POST /api/sessions/{key}/runs`."""

    message: str | Message | None = None
    invocation_id: str | None = None
    state_delta: Delta | None = None
    streaming: bool | None = None
    """Defaults to true, or to that of the run being resumed."""
    pause: bool = False
    save_files: bool = False
    """Save the message's files as artifacts of the session and send notes that name them, as
    google-adk's `SaveFilesAsArtifactsPlugin` does. The names are their `displayName`s."""
    settings: SettingsBody | None = None
    watch: bool = False
    guard: Policy = "ask"
    """For the first run of a fork: what to do about tools that ran in its parent after the fork."""
    unknown: dict[str, AnswerBody] = Field(default_factory=dict)
    """When resuming: a decision for each call of unknown outcome, by the call's id."""
    actor: str = Field(default="api", max_length=100)


class LikeBody(Strict):
    """Where `run_to` stops."""

    gate: GateKind = "before_commit"
    kind: str | None = None
    agent: str | None = None
    tool: str | None = None

    def to_like(self) -> Like:
        condition = similar(kind=self.kind, agent=self.agent, tool=self.tool)
        return Like(gate=self.gate, condition=condition)


class CommandBody(Strict):
    """`POST /api/runs/{run}/commands`."""

    command: CommandName
    key: str = Field(min_length=1, max_length=200)
    position: int | None = None
    hold: int | None = None
    like: LikeBody | None = None
    value: Any = None
    actor: str = Field(default="api", max_length=100)

    def to_command(self) -> Command:
        return Command(
            name=self.command,
            key=self.key,
            position=self.position,
            hold=self.hold,
            like=self.like.to_like() if self.like else None,
            value=self.value,
            actor=self.actor,
        )


class CallBody(Strict):
    """`POST /api/runs/{run}/calls`."""

    command: Literal["end", "answer"]
    key: str = Field(min_length=1, max_length=200)
    call: int | Annotated[str, Field(min_length=1, max_length=1000)]
    """The `id` of an active call in the run's activity or, if unique, its `call` or `name`."""
    value: Any = None
    """The answer for `answer`; for `end`, a text with the reason."""
    actor: str = Field(default="api", max_length=100)

    def to_order(self) -> CallOrder:
        return CallOrder(
            name=self.command, key=self.key, call=self.call, value=self.value, actor=self.actor
        )


_REFUSALS: Final = (
    Refusal(409, "Not possible in the current state", CommandRefusedJson),
    Refusal(422, "Invalid values", CommandRefusedJson),
)


@operation(
    PositionJson,
    status=201,
    body=StartBody,
    refusals=(
        Refusal(
            409,
            "A run is active, the invocation is done, or calls of unknown outcome need a decision",
            DecisionsRequiredJson,
        ),
    ),
)
async def start(request: Request) -> Response:
    """Start a run, or resume an invocation.

    `message` is text or a Content. `unknown` decides
    about [calls of unknown outcome](#resuming), `guard` about
    [tools that ran before](debugging.md#before-a-tool-runs-twice). `settings` is for this run's
    model calls only. A run that resumes an invocation keeps its `customMetadata` and
    `serviceTier`, and its `settings` and `streaming` unless the request has its own.
    """
    services, session = await session_of(request)
    body = parse(StartBody, await read_json(request, limit=MESSAGE_BYTES, allow_runtime_json=True))
    if body.message is None and body.invocation_id is None:
        raise BadRequest("message is required, or invocationId to resume an invocation")
    decisions: tuple[CallDecision, ...] = ()
    if body.message is None and body.invocation_id is not None:
        answers = call_answers(body.unknown)
        try:
            decisions = await decisions_for(
                services, session, body.invocation_id, answers, actor=body.actor
            )
        except DecisionRequired as error:
            refusal = {
                "detail": str(error),
                "unknown": [unknown_json(each) for each in error.calls],
            }
            return answer(refusal, status=409)
    settings = await settings_of_body(services, session, body.settings)
    guard = await first_guard(
        services, session, body.guard, invocation=body.invocation_id, decisions=decisions
    )
    run_request = RunRequest(
        opening=opening(decisions),
        guard=guard,
        message=message_of(body.message),
        invocation=body.invocation_id,
        state_delta=body.state_delta,
        streaming=body.streaming is not False,
        pause=body.pause,
        save_files=body.save_files,
        settings=settings,
        watch=body.watch,
        actor=body.actor,
    )
    if body.invocation_id is not None:  # it continues as it began, unless the body differs
        options = await last_options(services.journal, session.key, body.invocation_id)
        options = options if settings is None else replace(options, settings=settings)
        run_request = run_request.with_options(options, streaming=body.streaming)
    row = await services.runs.start(session, run_request)
    return answer(await services.runs.position(row.id), status=201)


@operation(
    SessionsJson,
    query={
        "app": Query(str),
        "user": Query(str, "Only the sessions of this user; requires `app`"),
        "id": Query(str, "Only sessions with this id, of the app and user if given"),
        "key": Query(int, "Only the session with this number in the journal"),
        "starred": Query(str, "`yes` selects those with a star"),
        "tag": Query(str, "Only sessions with this tag, of the app if given; case doesn't matter"),
        "status": Query(Choice, "With `app`: the status of the newest run, or `starred`"),
        "q": Query(str, "With `app`: part of the title or id, the number, or `tag:NAME`"),
        "sort": Query(Sort, "With `app`: `updated` by default"),
        "order": Query(Literal["asc", "desc"], "With `app`"),
        "page": Query(int, "With `app`: 50 sessions at a time, from 1"),
    },
    refusals=(400,),
)
async def sessions(request: Request) -> Response:
    """List sessions with their keys.

    The first 200, by last activity: the `timestamp` of a session's last event, or the time at
    which it was created or forked. `sort` and `order` choose another order.
    """
    services, query = services_of(request), request.query_params
    total: dict[str, int] = {}
    if _OF_LIST.isdisjoint(query):
        rows = await _matching_sessions(request)
    else:
        rows, count = await sessions_on_page(services, _app_of_list(query), ListQuery.read(query))
        total = {"total": count}
    keys = [row.key for row in rows]
    notes = await services.journal.notes.of_sessions(keys)
    tags = await services.journal.tags.of_sessions(keys)
    imported_keys = await services.journal.imports.among(keys)
    items = []
    for row in rows:
        note = notes.get(row.key)
        about = {
            "starred": bool(note and note.starred),
            "note": note.text if note else "",
            "tags": tags.get(row.key, []),
            "imported": row.key in imported_keys,
        }
        items.append({**_session(services, row), **about})
    return answer({"sessions": items, **total})


def _app_of_list(query: QueryParams) -> str:
    """Return the app whose list the query asks for; raises BadRequest for other parameters."""
    app = query.get("app")
    if app is None:
        raise BadRequest("name the app as well: ?app=NAME")
    if unfit := sorted(_NOT_OF_LIST.intersection(query)):
        raise BadRequest(f"{', '.join(unfit)} can't be combined with {', '.join(sorted(_OF_LIST))}")
    return app


async def _matching_sessions(request: Request) -> Sequence[SessionRow]:
    """Return the sessions that the query names, or all, by last activity."""
    services, query = services_of(request), request.query_params
    app, user, name = query.get("app"), query.get("user"), query.get("id")
    if (key := number_in(request, "key")) is not None:
        row = await services.journal.sessions.get(key)
        return [row] if row else []
    if query.get("starred"):
        return await services.journal.sessions.starred(app, _SESSIONS)
    if (tag := query.get("tag")) is not None:
        keys = await services.journal.tags.sessions([TagChoice([folded(tag)])], app)
        return await services.journal.search.by_title("", _SESSIONS, keys)
    if name is not None:
        return await services.journal.sessions.with_id(name, app, user, _SESSIONS)
    if app is None and user is not None:
        raise BadRequest("name the user's app as well: ?app=NAME&user=ID")
    if app is None:
        return await services.journal.sessions.recent(_SESSIONS)
    return await services.journal.sessions.list(app, user, limit=_SESSIONS)


@operation(PositionJson)
async def newest(request: Request) -> Response:
    """Get the position of the newest run."""
    services, session = await session_of(request)
    row = await services.journal.runs.newest(session.key)
    if row is None:
        raise NotFound(f"session {session.key} has no run yet")
    return answer(await services.runs.position(row.id))


@operation(
    PositionJson,
    query={
        "after": Query(int, "Wait until the position is higher than this one"),
        "seconds": Query(int, "Seconds to wait; 30 at most"),
    },
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """Get the position of a run."""
    services, run = services_of(request), request.path_params["run"]
    after, seconds = number_in(request, "after"), number_in(request, "seconds")
    if after is None:
        return answer(await services.runs.position(run))
    wait = LONGEST_WAIT if seconds is None else min(seconds, LONGEST_WAIT)
    return answer(await _position_after(services, run, after, seconds=wait))


@operation(RunActivityJson)
async def activity(request: Request) -> Response:
    """Get what a run is waiting for.

    Calls, holds, tasks with their await stacks, questions. The guide explains
    [what a run waits for](#what-a-run-waits-for).
    """
    services, run = services_of(request), request.path_params["run"]
    return answer(await services.runs.activity(run))


@operation(
    OutputLinesJson,
    query={
        "after": Query(int, "The number of a line"),
        "limit": Query(int, "The maximum number to return, starting after `after`"),
        "last": Query(int, "Return only the last N lines"),
    },
    refusals=(400,),
)
async def log(request: Request) -> Response:
    """List what a run printed and logged.

    Includes stdout, stderr, logging and the debugger's log lines so far. Without `last`, returns
    1,000 lines after line `after`, or up to `limit`.
    """
    services, name = services_of(request), request.path_params["run"]
    run = await services.journal.runs.get(name)
    if run is None:
        raise NotFound(f"there is no run {name!r}")
    after, limit = number_in(request, "after"), number_in(request, "limit")
    if last := number_in(request, "last"):
        lines = await last_output(services, run, max(1, min(last, _MOST_LINES)))
    else:
        most = max(1, min(limit or _LINES, _MOST_LINES))
        lines = await output_after(services, run, max(0, after or 0), most)
    return answer({"lines": [{"number": number, **asdict(line)} for number, line in lines]})


@operation(PositionJson, body=CommandBody, refusals=_REFUSALS)
async def command(request: Request) -> Response:
    """Step or continue a run, or edit what is held.

    Answers with the new position; a refused command answers with the current one.
    """
    services, run = services_of(request), request.path_params["run"]
    body = parse(
        CommandBody, await read_json(request, limit=MESSAGE_BYTES, allow_runtime_json=True)
    )
    if body.value is not None:
        body.value = await restore_held_secrets(services, run, body.value)
    try:
        return answer(await services.runs.command(run, body.to_command()))
    except CommandRefused as error:
        return _refusal(error)


@operation(PositionJson, body=CallBody, refusals=_REFUSALS)
async def end_call(request: Request) -> Response:
    """End a call in progress, or answer it.

    [Ends an active call](debugging.md#why-is-it-stuck) (`end`) or answers in its place (`answer`);
    the run continues. It is refused with 409 if the call has ended or can't be reached, with 422 if
    the answer is invalid or several calls match.
    """
    services, run = services_of(request), request.path_params["run"]
    body = parse(CallBody, await read_json(request, limit=MESSAGE_BYTES, allow_runtime_json=True))
    try:
        return answer(await services.runs.end_call(run, body.to_order()))
    except CommandRefused as error:
        return _refusal(error)


def _refusal(error: CommandRefused) -> Response:
    status = 422 if isinstance(error, InvalidCommand) else 409
    return answer({"detail": str(error), "position": error.position}, status=status)


def _session(services: Services, row: SessionRow) -> dict[str, Any]:
    live = services.runs.live(row.key)
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


@operation(EditsJson)
async def edits(request: Request) -> Response:
    """List edits made by people.

    Each edit has what was held and what replaced it.
    """
    services, session = await session_of(request)
    return answer({"edits": [_edit(row) for row in await services.journal.edits.list(session.key)]})


def _edit(row: EditRow) -> dict[str, Any]:
    edit = asdict(row.edit)
    del edit["turn"]  # only for replays
    values = {name: json.loads(edit.pop(name)) for name in ("before", "after")}
    return {"id": row.id, **edit, **values}


async def _position_after(
    services: Services, run: str, after: int, *, seconds: int
) -> dict[str, Any]:
    until = time.monotonic() + seconds
    session = (await services.runs.position(run))["session"]
    with services.bus.subscribe(session) as reader:
        while True:
            position = await services.runs.position(run)
            remaining = until - time.monotonic()
            stands = position["position"]
            has_moved = stands is None or stands > after
            if has_moved or remaining <= 0:
                return position
            try:
                if not await asyncio.wait_for(reader.batch(), remaining):
                    return position
            except TimeoutError:
                continue


def call_answers(bodies: Mapping[str, AnswerBody]) -> dict[str, CallAnswer]:
    """Return the decisions in a request's body."""
    return {
        name: CallAnswer(do=each.do, result=each.result, reason=each.reason)
        for name, each in bodies.items()
    }


def unknown_json(call: UnknownCall) -> UnknownCallJson:
    """Return a call of unknown outcome as JSON."""
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
        "needsDecision": call.needs_decision,
        "longRunning": call.long_running,
        "ran": call.is_made,
        "answeredBy": call.answered_by or None,
    }


def message_of(body: str | Message | None) -> dict[str, Any] | None:
    """Return the user's Content in wire form; None without one. Raises Unprocessable."""
    if body is None:
        return None
    if isinstance(body, str):
        if not body.strip():
            raise Unprocessable("write a message first")
        return {"role": "user", "parts": [{"text": body}]}
    message = body.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {**message, "role": "user"}


def number_in(request: Request, name: str) -> int | None:
    """Return the whole number of a query parameter, None without it; raises BadRequest."""
    text = request.query_params.get(name)
    number = whole_number(text)
    if text is not None and number is None:
        raise BadRequest(f"{name} must be a whole number")
    return number
