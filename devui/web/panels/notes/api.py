"""Notes and stars over HTTP."""

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.events.news import NoteChanged
from devui.store.notes import LONGEST
from devui.store.rows import NoteRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import NotFound
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import operation
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.text.numbers import whole_number


class NoteBody(Strict):
    """`PATCH /api/sessions/{key}/notes/{number}`: members left out stay as they are."""

    text: str | None = Field(default=None, max_length=LONGEST)
    starred: bool | None = None
    actor: str = Field(default="api", max_length=100)


class NoteJson(TypedDict):
    """A note on an event."""

    number: int
    """The number of the event; 0 for the session."""
    text: str
    starred: bool
    actor: str
    at: float


class NotesJson(TypedDict):
    """Notes on a session and its events."""

    notes: list[NoteJson]


@operation(NotesJson)
async def every(request: Request) -> Response:
    """List notes on a session and its events."""
    services, session = await session_of(request)
    rows = await services.journal.notes.of(session.key)
    return answer({"notes": [note_json(row) for row in rows.values()]})


@operation(NoteJson, body=NoteBody)
async def change(request: Request) -> Response:
    """Write a note on an event, or star it.

    The number 0 is the session. An empty text without a star removes the note.
    """
    services, session = await session_of(request)
    body = parse(NoteBody, await read_json(request))
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("give the number of an event, or 0 for the session")
    row = await save_note(
        services, session.key, number, text=body.text, starred=body.starred, actor=body.actor
    )
    return answer(note_json(row))


async def save_note(
    services: Services,
    session: int,
    number: int,
    *,
    text: str | None = None,
    starred: bool | None = None,
    actor: str,
) -> NoteRow:
    """Save a note and publish the change; raises EventNotFound, BadValue."""
    row = await services.journal.notes.put(session, number, text=text, starred=starred, actor=actor)
    services.bus.publish(session, NoteChanged(row))
    return row


def note_json(row: NoteRow) -> NoteJson:
    """Return a note as JSON."""
    return {
        "number": row.number,
        "text": row.text,
        "starred": row.starred,
        "actor": row.actor,
        "at": row.at,
    }
