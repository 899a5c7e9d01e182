"""Notes and stars over HTTP."""

from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.news import NoteChanged
from devui.store.notes import LONGEST
from devui.store.rows import NoteRow
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer
from devui.web.errors import NotFound
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of


class NoteBody(Strict):
    """`PATCH /api/sessions/{key}/notes/{number}`: what is left out stays as it is."""

    text: str | None = Field(default=None, max_length=LONGEST)
    starred: bool | None = None
    actor: str = Field(default="api", max_length=100)


async def every(request: Request) -> Response:
    """What people say of the session and its events."""
    found, session = await session_of(request)
    rows = await found.journal.notes.of(session.key)
    return answer({"notes": [told(row) for row in rows.values()]})


async def change(request: Request) -> Response:
    """Say something of an event, or star it; the number 0 is the session."""
    found, session = await session_of(request)
    body = parse(NoteBody, await read_json(request))
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("a note belongs to the number of an event, or to 0, the session")
    row = await noted(
        found, session.key, number, text=body.text, starred=body.starred, actor=body.actor
    )
    return answer(told(row))


async def noted(
    found: Services,
    session: int,
    number: int,
    *,
    text: str | None = None,
    starred: bool | None = None,
    actor: str,
) -> NoteRow:
    """Keep it, and tell who looks at the session; raises EventNotFound, BadValue."""
    row = await found.journal.notes.put(session, number, text=text, starred=starred, actor=actor)
    found.bus.publish(session, NoteChanged(row))
    return row


def told(row: NoteRow) -> dict[str, Any]:
    """A note as JSON."""
    return {
        "number": row.number,
        "text": row.text,
        "starred": row.starred,
        "actor": row.actor,
        "at": row.at,
    }
