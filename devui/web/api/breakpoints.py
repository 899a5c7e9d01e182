"""Breakpoints over HTTP: kept for each app, and asked about the past of a session."""

from dataclasses import asdict
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.breakpoints.breakpoints import (
    Breakpoint,
    BreakpointError,
    Draft,
    Known,
    On,
    When,
)
from devui.debugger.breakpoints.hits import Past, past_hits
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer, number_in
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of

_MOST = 1000
"""Hits in one answer."""


class BreakpointBody(Strict):
    """`POST /api/apps/{app}/breakpoints`; the texts are explained at `Draft`."""

    on: On
    name: str = Field(default="*", max_length=200)
    agent: str = Field(default="*", max_length=200)
    when: When = "before"
    condition: str = ""
    hit: str = Field(default="", max_length=20)
    log: str = Field(default="", max_length=1000)

    def draft(self) -> Draft:
        """What the person said."""
        return Draft(**{name: value for name, value in self if name in _OF_DRAFT})


class NewBody(BreakpointBody):
    enabled: bool = True


class ChangeBody(Strict):
    """`PATCH …/breakpoints/{number}`: what is left out stays as it is."""

    version: int
    enabled: bool | None = None
    user: str | None = Field(default=None, max_length=200)
    """Whom `enabled` is for; for everybody who has not switched it himself, if not said."""
    on: On | None = None
    name: str | None = Field(default=None, max_length=200)
    agent: str | None = Field(default=None, max_length=200)
    when: When | None = None
    condition: str | None = None
    hit: str | None = Field(default=None, max_length=20)
    log: str | None = Field(default=None, max_length=1000)


class HitsBody(BreakpointBody):
    """`POST /api/sessions/{key}/hits`: a breakpoint that need not exist."""

    after: int = 0
    before: int | None = None
    limit: int = Field(default=_MOST, ge=1, le=_MOST)


_OF_DRAFT = set(BreakpointBody.model_fields)


async def every(request: Request) -> Response:
    """The app's breakpoints, the oldest first."""
    found, app = _app(request)
    return answer({"breakpoints": [told(found, known) for known in found.book.of(app)]})


async def add(request: Request) -> Response:
    """Make a breakpoint; it counts for runs that are under way, too."""
    found, app = _app(request)
    body = parse(NewBody, await read_json(request))
    try:
        known = await found.book.add(app, body.draft(), enabled=body.enabled)
    except BreakpointError as error:
        raise _refused(error) from error
    return answer(told(found, known), status=201)


async def change(request: Request) -> Response:
    """Change a breakpoint that is still as the client has read it, else 409."""
    found, known = _known(request)
    body = parse(ChangeBody, await read_json(request))
    given = body.model_dump(exclude_none=True, exclude={"version", "enabled", "user"})
    if body.user is not None:
        return answer(told(found, await _switched(found, known, body, given)))
    draft = Draft(**{**_draft(known), **given}) if given else None
    try:
        changed = await found.book.change(
            known.row.id, body.version, draft=draft, enabled=body.enabled
        )
    except BreakpointError as error:
        raise _refused(error) from error
    return answer(told(found, changed))


async def _switched(
    found: Services, known: Known, body: ChangeBody, given: dict[str, Any]
) -> Known:
    if body.user is None or body.enabled is None or given:
        raise BadRequest("with user, give enabled and nothing else: the rest is everybody's")
    return await found.book.switch(known.row.id, body.version, body.user, enabled=body.enabled)


async def delete(request: Request) -> Response:
    """Delete a breakpoint; one that is not there is no error."""
    found, app = _app(request)
    number = whole_number(request.path_params["number"])
    return answer({"deleted": number is not None and await found.book.delete(app, number)})


async def hits(request: Request) -> Response:
    """Where in the session's past a breakpoint of its app would have been met."""
    found, session = await session_of(request)
    number = number_in(request, "breakpoint")
    if number is None:
        raise BadRequest("breakpoint is required: the number of one of the app's breakpoints")
    known = found.book.get(session.app, number)
    if known is None:
        raise NotFound(f"{session.app} has no breakpoint {number}")
    past = await past_hits(
        found.journal,
        session,
        [known.breakpoint],
        found.prices,
        after=number_in(request, "after") or 0,
        before=number_in(request, "before"),
        limit=max(1, min(number_in(request, "limit") or _MOST, _MOST)),
    )
    return answer(_past(past))


async def hits_of_draft(request: Request) -> Response:
    """The same for a breakpoint that need not exist."""
    found, session = await session_of(request)
    body = parse(HitsBody, await read_json(request))
    try:
        point = Breakpoint(body.draft())
    except BreakpointError as error:
        raise _refused(error) from error
    past = await past_hits(
        found.journal,
        session,
        [point],
        found.prices,
        after=body.after,
        before=body.before,
        limit=body.limit,
    )
    return answer(_past(past))


def told(found: Services, known: Known) -> dict[str, Any]:
    """A breakpoint as JSON; `users` are those who switched it for themselves, and how."""
    row = known.row
    kept = {"id": row.id, "app": row.app, "version": row.version, "enabled": row.enabled}
    kept["users"] = found.book.flags(row.id)
    return {**kept, "hits": row.hits, "gate": known.breakpoint.gate, **_draft(known)}


def _draft(known: Known) -> dict[str, Any]:
    return asdict(known.breakpoint.draft)


def _past(past: Past) -> dict[str, Any]:
    return asdict(past)


def _app(request: Request) -> tuple[Services, str]:
    found, app = services(request), request.path_params["app"]
    found.apps.require(app)
    return found, app


def _known(request: Request) -> tuple[Services, Known]:
    found, app = _app(request)
    number = whole_number(request.path_params["number"])
    known = found.book.get(app, number) if number is not None else None
    if known is None:
        raise NotFound(f"{app} has no such breakpoint; it may have been deleted")
    return found, known


def _refused(error: BreakpointError) -> Unprocessable:
    place = [error.field] if error.at is None else [error.field, error.at]
    return Unprocessable([{"type": "breakpoint", "loc": ["body", *place], "msg": str(error)}])
