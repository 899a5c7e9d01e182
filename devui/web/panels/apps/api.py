"""Deletes sessions that haven't been used for a long time (R48)."""

from typing import Final

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.store.rows import SessionRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.json_answers import answer
from devui.web.operation import operation
from devui.web.panels.apps.selection import delete_unless_running
from devui.web.security.intake import read_json
from devui.web.services import services_of

_DAY: Final = 86_400


class PruneBody(Strict):
    """`POST /api/sessions/prune`."""

    days: float = Field(ge=0, le=36_500)
    """How many days the sessions have been unused."""
    app: str | None = None
    """Only sessions of this app, which may have been removed."""
    confirm: bool = False
    """Delete them; otherwise they are only listed."""


class UnusedSessionJson(TypedDict):
    """An unused session."""

    key: int
    app: str
    user: str
    id: str
    title: str | None
    events: int
    updated: float


class UnusedSessionsJson(TypedDict):
    """Unused sessions."""

    sessions: list[UnusedSessionJson]
    deleted: bool
    """Whether they were deleted."""


@operation(UnusedSessionsJson, body=PruneBody)
async def prune(request: Request) -> Response:
    """List sessions unused for a number of days, and delete them if confirmed.

    Sessions with a star, a note, a tag or an active run stay.
    """
    services = services_of(request)
    body = parse(PruneBody, await read_json(request))
    rows = list(await services.journal.sessions.unused(body.days * _DAY, body.app))
    if body.confirm:
        rows = [row for row in rows if await delete_unless_running(services, row)]
    return answer({"sessions": [_session_json(row) for row in rows], "deleted": body.confirm})


def _session_json(row: SessionRow) -> UnusedSessionJson:
    return {
        "key": row.key,
        "app": row.app,
        "user": row.user,
        "id": row.id,
        "title": row.title,
        "events": row.events,
        "updated": row.updated,
    }
