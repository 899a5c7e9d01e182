"""Deleting sessions that nobody has used for long (R48)."""

from typing import Any, Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.news import SessionChanged
from devui.store.errors import RunActive
from devui.store.rows import SessionRow
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer
from devui.web.security.intake import read_json
from devui.web.services import Services, services

_DAY: Final = 86_400


class PruneBody(Strict):
    """`POST /api/sessions/prune`."""

    days: float = Field(ge=0, le=36_500)
    """For so long nothing was done in them."""
    app: str | None = None
    """Of this app alone, which need not be there any more."""
    sure: bool = False
    """Delete them; without it they are listed only."""


async def prune(request: Request) -> Response:
    """The sessions that are unused for so many days; deleted, if somebody is sure.

    Those that have a star or a note stay, and those with an active run.
    """
    found = services(request)
    body = parse(PruneBody, await read_json(request))
    rows = list(await found.journal.sessions.unused(body.days * _DAY, body.app))
    if body.sure:
        rows = [row for row in rows if await _deleted(found, row)]
    return answer({"sessions": [_told(row) for row in rows], "deleted": body.sure})


def _told(row: SessionRow) -> dict[str, Any]:
    named = {"key": row.key, "app": row.app, "user": row.user, "id": row.id, "title": row.title}
    return {**named, "events": row.events, "updated": row.updated}


async def _deleted(found: Services, row: SessionRow) -> bool:
    try:
        await found.journal.sessions.delete(row.key)
    except RunActive:  # it is used again
        return False
    found.bus.publish(row.key, SessionChanged(None))
    return True
