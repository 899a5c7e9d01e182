"""The JSON routes of breakpoints: an app's breakpoints, and their past hits in a session."""

from dataclasses import asdict
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.breakpoints.breakpoint import (
    Breakpoint,
    BreakpointError,
    Draft,
    StoredBreakpoint,
)
from devui.debugger.breakpoints.hits import Past, past_hits
from devui.debugger.breakpoints.kinds import On, When
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.runs.api import number_in
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number

_MOST = 1000
"""The maximum number of hits in one response."""


class BreakpointBody(Strict):
    """`POST /api/apps/{app}/breakpoints`; `Draft` explains the fields."""

    on: On
    name: str = Field(default="*", max_length=200)
    agent: str = Field(default="*", max_length=200)
    when: When = "before"
    condition: str = ""
    hit: str = Field(default="", max_length=20)
    log: str = Field(default="", max_length=1000)

    def draft(self) -> Draft:
        """Return the breakpoint that the body describes."""
        return Draft(**{name: value for name, value in self if name in _OF_DRAFT})


class NewBody(BreakpointBody):
    enabled: bool = True
    actor: str = Field(default="api", max_length=100)


class ChangeBody(Strict):
    """`PATCH …/breakpoints/{number}`; omitted fields stay as they are."""

    version: int
    enabled: bool | None = None
    user: str | None = Field(default=None, max_length=200)
    """The user whose switch `enabled` sets; by default, that of all users who haven't used their
    own."""
    on: On | None = None
    name: str | None = Field(default=None, max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    when: When | None = None
    condition: str | None = None
    hit: str | None = Field(default=None, max_length=20)
    log: str | None = Field(default=None, max_length=1000)


class HitsBody(BreakpointBody):
    """`POST /api/sessions/{key}/hits`: a breakpoint that isn't saved."""

    after: int = 0
    before: int | None = None
    limit: int = Field(default=_MOST, ge=1, le=_MOST)


_OF_DRAFT = set(BreakpointBody.model_fields)


class BreakpointJson(TypedDict):
    """A breakpoint of an app."""

    id: int
    app: str
    version: int
    enabled: bool
    """For users who haven't used their own switch."""
    users: dict[str, bool]
    """The switches of individual users."""
    actor: str | None
    """Who set it; null if it was set on a page, or if unknown."""
    hits: int
    gate: str
    on: On
    name: str
    agent: str
    when: When
    condition: str
    hit: str
    log: str


class BreakpointsJson(TypedDict):
    """The breakpoints of an app, the oldest first."""

    breakpoints: list[BreakpointJson]


class DeletedJson(TypedDict):
    """Whether the breakpoint existed."""

    deleted: bool


class PastHitJson(TypedDict):
    """A past event that the breakpoint would have hit."""

    number: int
    seq: int
    text: str


class PastHitsJson(TypedDict):
    """The past events that a breakpoint would have hit."""

    hits: list[PastHitJson]
    scanned: int
    hasMore: bool


@operation(BreakpointsJson)
async def every(request: Request) -> Response:
    """List an app's breakpoints."""
    services, app = _app(request)
    return answer(
        {"breakpoints": [breakpoint_json(services, point) for point in services.book.of(app)]}
    )


@operation(BreakpointJson, status=201, body=NewBody)
async def add(request: Request) -> Response:
    """Create a breakpoint.

    It also applies to runs that are in progress.
    """
    services, app = _app(request)
    body = parse(NewBody, await read_json(request))
    try:
        point = await services.book.add(app, body.draft(), enabled=body.enabled, actor=body.actor)
    except BreakpointError as error:
        raise _unprocessable(error) from error
    return answer(breakpoint_json(services, point), status=201)


@operation(BreakpointJson, body=ChangeBody, refusals=(409,))
async def change(request: Request) -> Response:
    """Change a breakpoint.

    Changes the given members. `version` is the one you read, 409 if it has changed since. `enabled`
    with `user` applies only to this user's sessions.
    """
    services, point = _breakpoint_of(request)
    body = parse(ChangeBody, await read_json(request))
    changes = body.model_dump(exclude_none=True, exclude={"version", "enabled", "user"})
    if body.user is not None:
        return answer(breakpoint_json(services, await _switch(services, point, body, changes)))
    draft = Draft(**{**_draft(point), **changes}) if changes else None
    try:
        current = await services.book.change(
            point.row.id, body.version, draft=draft, enabled=body.enabled
        )
    except BreakpointError as error:
        raise _unprocessable(error) from error
    return answer(breakpoint_json(services, current))


async def _switch(
    services: Services, point: StoredBreakpoint, body: ChangeBody, changes: dict[str, Any]
) -> StoredBreakpoint:
    if body.user is None or body.enabled is None or changes:
        raise BadRequest("`user` only applies to `enabled`: all users share the other fields")
    return await services.book.switch(point.row.id, body.version, body.user, enabled=body.enabled)


@operation(DeletedJson)
async def delete(request: Request) -> Response:
    """Delete a breakpoint.

    Deleting a breakpoint that doesn't exist isn't an error.
    """
    services, app = _app(request)
    number = whole_number(request.path_params["number"])
    return answer({"deleted": number is not None and await services.book.delete(app, number)})


@operation(
    PastHitsJson,
    query={
        "breakpoint": Query(int, "The number of one of the app's breakpoints", required=True),
        "after": Query(int, "The first hits after this event"),
        "before": Query(int, "The last hits before this event"),
        "limit": Query(int, "The maximum number to return"),
    },
    refusals=(400,),
)
async def hits(request: Request) -> Response:
    """List the events a breakpoint would have hit."""
    services, session = await session_of(request)
    number = number_in(request, "breakpoint")
    if number is None:
        raise BadRequest("`breakpoint` is required: the number of one of the app's breakpoints")
    point = services.book.get(session.app, number)
    if point is None:
        raise NotFound(f"{session.app} has no breakpoint {number}")
    past = await past_hits(
        services.journal,
        session,
        [point.breakpoint],
        services.prices,
        after=number_in(request, "after") or 0,
        before=number_in(request, "before"),
        limit=max(1, min(number_in(request, "limit") or _MOST, _MOST)),
    )
    return answer(_past_json(past))


@operation(PastHitsJson, body=HitsBody)
async def hits_of_draft(request: Request) -> Response:
    """List the events an unsaved breakpoint would have hit."""
    services, session = await session_of(request)
    body = parse(HitsBody, await read_json(request))
    try:
        point = Breakpoint(body.draft())
    except BreakpointError as error:
        raise _unprocessable(error) from error
    past = await past_hits(
        services.journal,
        session,
        [point],
        services.prices,
        after=body.after,
        before=body.before,
        limit=body.limit,
    )
    return answer(_past_json(past))


def _past_json(past: Past) -> PastHitsJson:
    hits: list[PastHitJson] = [
        {"number": each.number, "seq": each.seq, "text": each.text} for each in past.hits
    ]
    return {"hits": hits, "scanned": past.scanned, "hasMore": past.has_more}


def breakpoint_json(services: Services, point: StoredBreakpoint) -> dict[str, Any]:
    """Return a breakpoint as JSON; `users` maps those who used their own switch to on or off."""
    row = point.row
    return {
        "id": row.id,
        "app": row.app,
        "version": row.version,
        "enabled": row.enabled,
        "users": services.book.flags(row.id),
        "actor": row.actor,
        "hits": row.hits,
        "gate": point.breakpoint.gate,
        **_draft(point),
    }


def _draft(point: StoredBreakpoint) -> dict[str, Any]:
    return asdict(point.breakpoint.draft)


def _app(request: Request) -> tuple[Services, str]:
    services, app = services_of(request), request.path_params["app"]
    services.apps.require(app)
    return services, app


def _breakpoint_of(request: Request) -> tuple[Services, StoredBreakpoint]:
    services, app = _app(request)
    number = whole_number(request.path_params["number"])
    point = services.book.get(app, number) if number is not None else None
    if point is None:
        raise NotFound(f"{app} has no such breakpoint; it may have been deleted")
    return services, point


def _unprocessable(error: BreakpointError) -> Unprocessable:
    place = [error.field] if error.at is None else [error.field, error.at]
    return Unprocessable([{"type": "breakpoint", "loc": ["body", *place], "msg": str(error)}])
