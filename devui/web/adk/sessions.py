"""Sessions over ADK's REST API (adk-web 1.3)."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from types import NoneType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from devui.debugger.apps.adk_files import starting_state
from devui.debugger.events.first_event import FirstEvent
from devui.debugger.events.news import EventCommitted, SessionChanged
from devui.debugger.events.shape import no_actions
from devui.debugger.runs.commit import event_of
from devui.debugger.runs.request import opening_title
from devui.debugger.workers.trials import TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.store.events import history
from devui.store.rows import NewEvent, SessionRow
from devui.store.state import state_json
from devui.web.adk.answers import AdkSessionJson
from devui.web.adk.bodies import STATE, MemoryBody, PatchBody, SessionBody, parse, unused, warned
from devui.web.adk.public_events import mark_restored, public_event
from devui.web.errors import BadRequest, Conflict, NotFound
from devui.web.operation import Refusal, operation
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number
from devui.wire.events import Event

SESSION_LIMIT: Final = 256_000_000
"""The size limit of a session with its events, in bytes; it is read as a whole."""
_STATE_LIMIT: Final = 20_000_000
_ID_EXISTS: Final = Refusal(409, "The id is taken")
_ACTIVE: Final = Refusal(409, "A run is in progress")
_OPTIONS: Final = "ignored options: devui stores sessions itself"


@operation(list[AdkSessionJson])
async def list_sessions(request: Request) -> Response:
    """List a user's sessions, with state but without events."""
    services, app, user = _names(request)
    rows = list(reversed(await services.journal.sessions.list(app, user)))
    first = "".join(await _head(services, rows[0])) if rows else ""  # may raise: before the stream

    async def pieces() -> AsyncIterator[str]:
        yield f"[{first}"
        for row in rows[1:]:
            yield "," + "".join(await _head(services, row, lenient=True))
        yield "]"

    return StreamingResponse(pieces(), media_type="application/json")


@operation(AdkSessionJson, body=SessionBody, refusals=(_ID_EXISTS,))
async def create_session(request: Request) -> Response:
    """Create a session; the body may be empty, or name an id, a state and first events."""
    services, app, user = _names(request)
    value = await read_json(request, limit=SESSION_LIMIT, empty=None, allow_runtime_json=True)
    body = parse(SessionBody, value or {})
    state = starting_state(services.apps.require(app), body.state)
    row = await begin(services, app, user, body.session_id, state=state, events=body.events)
    spare = warned(_OPTIONS) if body.options else unused(SessionBody, value or {})
    return await _whole(services, row.key, spare)


async def begin(
    services: Services,
    app: str,
    user: str,
    name: str | None,
    *,
    state: dict[str, Any] | None,
    events: list[FirstEvent] | None,
) -> SessionRow:
    """Create a session with a state and events. Raises BadRequest, SessionExists, BadValue."""
    first = await asyncio.to_thread(_history, events) if events else []
    titles = (opening_title(event, services.runs.words_of) for event in first)
    title = next(filter(None, titles), None)
    row = await services.journal.sessions.create(
        app, user, name, state or {}, title=title, history=history(first)
    )
    if first:
        await services.know_credentials()
    return row


@operation(AdkSessionJson, refusals=(_ID_EXISTS, 422))
async def create_session_named(request: Request) -> Response:
    """Create a session with the id in the path (deprecated in ADK).

    The body is the state.
    """
    services, app, user = _names(request)
    value = await read_json(request, limit=_STATE_LIMIT, empty=None, allow_runtime_json=True)
    state = starting_state(services.apps.require(app), parse(STATE, value or {}))
    row = await services.journal.sessions.create(app, user, request.path_params["session"], state)
    return await _whole(services, row.key)


@operation(AdkSessionJson)
async def get_session(request: Request) -> Response:
    """Get a session with all its events, streamed from the journal.

    Its `ETag` is the number of the last event.
    """
    services, row = await session_named(request)
    return await _whole(services, row.key)


@operation(
    AdkSessionJson,
    body=PatchBody,
    refusals=(Refusal(409, "A run is in progress, or there are later events than `If-Match`"),),
)
async def patch_session(request: Request) -> Response:
    """Change state with a user event; refused while a run is in progress.

    With `If-Match` and the `ETag` of the session, it is refused with 409 if there are later
    events.
    """
    services, row = await session_named(request)
    value = await read_json(request, limit=_STATE_LIMIT, allow_runtime_json=True)
    body = parse(PatchBody, value)
    await change_state(services, row, body.state_delta, last_seen=_last_seen(request))
    return await _whole(services, row.key, unused(PatchBody, value))


async def change_state(
    services: Services,
    row: SessionRow,
    delta: dict[str, Any],
    *,
    last_seen: int | None = None,
    last_written: int | None = None,
) -> int:
    """Change state with a user event, and return its number.

    `last_seen` and `last_written` are as in `append`.

    Raises Conflict while a run is in progress, and what `append` raises.
    """
    if services.runs.live(row.key) is not None:
        raise Conflict(
            "a run is in progress on this session: its state can't be changed until the run ends"
        )
    new = event_of(Event.of(_state_event(delta)), final=True)
    append = services.journal.events.append
    event_row = await append(row.key, new, run=None, last_seen=last_seen, last_written=last_written)
    body_row = await services.journal.events.body(row.key, event_row.number)
    if body_row is not None:
        services.bus.publish(row.key, EventCommitted(*body_row))
    return event_row.number


def _last_seen(request: Request) -> int | None:
    """Return the number of the last event that a change is based on; None if not given."""
    tag = request.headers.get("if-match")
    if tag in (None, "*"):
        return None
    number = whole_number(tag.strip('"'))
    if number is None:
        raise BadRequest('If-Match must be the ETag of the session, such as "12"')
    return number


@operation(NoneType, refusals=(_ACTIVE,))
async def delete_session(request: Request) -> Response:
    """Delete a session; a missing one is not an error, as in ADK."""
    services, app, user = _names(request)
    row = await services.journal.sessions.find(app, user, request.path_params["session"])
    if row is not None:
        live = services.runs.live(row.key)
        if live is not None:
            raise Conflict("a run is in progress on this session: stop it first")
        await services.journal.sessions.delete(row.key)
        services.bus.publish(row.key, SessionChanged(None))
    return JSONResponse(None)


@operation(NoneType, body=MemoryBody, refusals=(Refusal(409, "The app can't remember it"),))
async def remember(request: Request) -> Response:
    """Add a session to its app's memory, which lasts as long as the app's process."""
    services, app, user = _names(request)
    value = await read_json(request)
    body = parse(MemoryBody, value)
    row = await services.journal.sessions.find(app, user, body.session_id)
    if row is None:
        raise NotFound("Session not found")
    try:
        await services.runs.trials.remember(row)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(f"the session wasn't added to memory: {error}") from error
    return JSONResponse(None, headers=unused(MemoryBody, value))


def _names(request: Request) -> tuple[Services, str, str]:
    """Return the services, app and user. Raises UnknownApp if no such app was discovered (R22)."""
    services = services_of(request)
    app, user = request.path_params["app"], request.path_params["user"]
    services.apps.require(app)
    return services, app, user


async def session_named(request: Request) -> tuple[Services, SessionRow]:
    services, app, user = _names(request)
    row = await services.journal.sessions.find(app, user, request.path_params["session"])
    if row is None:
        raise NotFound("Session not found")
    return services, row


async def _head(services: Services, row: SessionRow, *, lenient: bool = False) -> tuple[str, str]:
    """Return the JSON of a session before and after its events."""
    values = await services.journal.state.at(row.key)

    names = {"id": row.id, "appName": row.app, "userId": row.user}
    state = await asyncio.to_thread(state_json, values, lenient=lenient) if values else "{}"
    begins = f'{json.dumps(names)[:-1]},"state":{state},"events":['
    return begins, f'],"lastUpdateTime":{json.dumps(row.updated)}}}'


async def _whole(
    services: Services, key: int, headers: Mapping[str, str] | None = None
) -> Response:
    row = await services.journal.sessions.get(key)
    if row is None:
        raise NotFound("Session not found")
    before, after = await _head(services, row)

    async def pieces() -> AsyncIterator[str]:
        yield before
        comma = ""
        async for text in services.journal.events.json(key):
            yield comma + public_event(text)
            comma = ","
        yield after

    position = {"ETag": f'"{row.events}"', **(headers or {})}
    return StreamingResponse(pieces(), media_type="application/json", headers=position)


def _history(first_events: list[FirstEvent]) -> list[NewEvent]:
    """Return the first events of a new session, all validated before any is written."""
    events = [_first_event(event) for event in first_events]
    if len({event.id for event in events}) < len(events):
        raise BadRequest("two events of a new session have the same id")
    return events


def _first_event(first: FirstEvent) -> NewEvent:
    first.id = first.id or str(uuid.uuid4())
    first.actions.state_delta = _lasting(first.actions.state_delta)
    first.custom_metadata = mark_restored(first.custom_metadata)
    event = first.model_dump(by_alias=True, exclude_none=True)
    event = {**event, "actions": {**no_actions(), **event["actions"]}}
    event.setdefault("nodeInfo", {"path": ""})
    read = Event.of(event)
    return event_of(read, final=read.is_final if first.final is None else first.final)


def _state_event(delta: dict[str, Any]) -> dict[str, Any]:
    return {
        "invocationId": f"p-{uuid.uuid4()}",
        "author": "user",
        "actions": {**no_actions(), "stateDelta": _lasting(delta)},
        "nodeInfo": {"path": ""},
        "id": str(uuid.uuid4()),
        "timestamp": time.time(),
    }


def _lasting(delta: dict[str, Any]) -> dict[str, Any]:
    """Return the delta without `temp:` keys, which aren't stored."""
    return {key: value for key, value in delta.items() if not key.startswith("temp:")}
