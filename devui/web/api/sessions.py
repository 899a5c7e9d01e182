"""Sessions over ADK's REST API (adk-web 1.3)."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from devui.debugger.commit import event_of
from devui.debugger.event_shape import FirstEvent
from devui.debugger.news import EventCommitted, SessionChanged
from devui.store.events import history
from devui.store.rows import NewEvent, SessionRow
from devui.web.api.bodies import STATE, PatchBody, SessionBody, parse
from devui.web.api.public_events import public_event, restored
from devui.web.errors import BadRequest, Conflict, NotFound
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number

_IMPORT_LIMIT = 20_000_000


async def list_sessions(request: Request) -> Response:
    """Every session of the user, with its state and without its events."""
    found, app, user = _names(request)
    rows = await found.journal.sessions.list(app, user)
    return JSONResponse([await _head(found, row) for row in reversed(rows)])


async def create_session(request: Request) -> Response:
    """Create a session; the body may be empty, or name an id, a state and first events."""
    found, app, user = _names(request)
    value = await read_json(request, limit=_IMPORT_LIMIT, empty=None)
    body = parse(SessionBody, value or {})
    events = await asyncio.to_thread(_history, body.events or [])
    row = await found.journal.sessions.create(
        app, user, body.session_id, body.state or {}, history=history(events)
    )
    if events:
        await found.know_credentials()
    return await _whole(found, row.key)


async def create_session_named(request: Request) -> Response:
    """The deprecated form: the id in the path, the state as the body."""
    found, app, user = _names(request)
    value = await read_json(request, empty=None)
    state = parse(STATE, value or {})
    row = await found.journal.sessions.create(app, user, request.path_params["session"], state)
    return await _whole(found, row.key)


async def get_session(request: Request) -> Response:
    """One session with all its events, streamed from the journal in the form they are kept."""
    found, row = await session_named(request)
    return await _whole(found, row.key)


async def patch_session(request: Request) -> Response:
    """Change state by an event of the user; refused while a run holds the session.

    With `If-Match` also if it is not as it was when that was its ETag (R32).
    """
    found, row = await session_named(request)
    body = parse(PatchBody, await read_json(request))
    if found.runs.live(row.key) is not None:
        raise Conflict("a run is active on this session: its state cannot be changed meanwhile")
    event = _state_event(body.state_delta)
    text = json.dumps(event)
    new = event_of(event, text, final=True)
    done = await found.journal.events.append(row.key, new, run=None, seen=_seen(request))
    body_row = await found.journal.events.body(row.key, done.number)
    if body_row is not None:
        found.bus.publish(row.key, EventCommitted(*body_row))
    return await _whole(found, row.key)


def _seen(request: Request) -> int | None:
    """The number of the last event that a change is based on; None if nothing is said."""
    tag = request.headers.get("if-match")
    if tag in (None, "*"):
        return None
    number = whole_number(tag.strip('"'))
    if number is None:
        raise BadRequest('If-Match has to be the ETag of the session, such as "12"')
    return number


async def delete_session(request: Request) -> Response:
    """Delete a session; one that is not there is no error, as with ADK."""
    found, app, user = _names(request)
    row = await found.journal.sessions.find(app, user, request.path_params["session"])
    if row is not None:
        live = found.runs.live(row.key)
        if live is not None:
            raise Conflict("a run is active on this session: stop it first")
        await found.journal.sessions.delete(row.key)
        found.bus.publish(row.key, SessionChanged(None))
    return JSONResponse(None)


def _names(request: Request) -> tuple[Services, str, str]:
    """The app has to be one that was discovered: nothing is made for any other name (R22)."""
    found = services(request)
    app, user = request.path_params["app"], request.path_params["user"]
    found.apps.require(app)
    return found, app, user


async def session_named(request: Request) -> tuple[Services, SessionRow]:
    found, app, user = _names(request)
    row = await found.journal.sessions.find(app, user, request.path_params["session"])
    if row is None:
        raise NotFound("Session not found")
    return found, row


async def _head(found: Services, row: SessionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "appName": row.app,
        "userId": row.user,
        "state": await found.journal.state.merged(row.key),
        "events": [],
        "lastUpdateTime": row.updated,
    }


async def _whole(found: Services, key: int) -> Response:
    row = await found.journal.sessions.get(key)
    if row is None:
        raise NotFound("Session not found")
    head = await _head(found, row)
    # The last one: a state may have such a member, too.
    before, after = json.dumps(head, separators=(",", ":")).rsplit('"events":[]', 1)

    async def pieces() -> AsyncIterator[str]:
        yield f'{before}"events":['
        comma = ""
        async for text in found.journal.events.json(key):
            yield comma + public_event(text)
            comma = ","
        yield f"]{after}"

    position = {"ETag": f'"{row.events}"'}
    return StreamingResponse(pieces(), media_type="application/json", headers=position)


def _history(given: list[FirstEvent]) -> list[NewEvent]:
    """The events a session begins with, complete before anything is written."""
    events = [_first_event(event) for event in given]
    if len({event.id for event in events}) < len(events):
        raise BadRequest("two events of a new session have the same id")
    return events


def _first_event(given: FirstEvent) -> NewEvent:
    given.id = given.id or str(uuid.uuid4())
    given.actions.state_delta = _lasting(given.actions.state_delta)
    given.custom_metadata = restored(given.custom_metadata)
    event = given.model_dump(by_alias=True, exclude_none=True)
    return event_of(event, json.dumps(event), final=bool(given.final))


def _state_event(delta: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {}
    return {
        "invocationId": f"p-{uuid.uuid4()}",
        "author": "user",
        "actions": {
            "stateDelta": _lasting(delta),
            "artifactDelta": empty,
            "requestedAuthConfigs": empty,
            "requestedToolConfirmations": empty,
        },
        "nodeInfo": {"path": ""},
        "id": str(uuid.uuid4()),
        "timestamp": time.time(),
    }


def _lasting(delta: dict[str, Any]) -> dict[str, Any]:
    """Without `temp:` keys, which nothing keeps."""
    return {key: value for key, value in delta.items() if not key.startswith("temp:")}
