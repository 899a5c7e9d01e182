"""Finds what a request names: a session, an event, the reader's theme, the actor."""

from starlette.datastructures import FormData
from starlette.requests import Request

from devui.store.rows import EventRow, SessionRow
from devui.web.basic_parts import Theme
from devui.web.errors import NotFound
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number

_LONGEST = 100


def actor_of(form: FormData) -> str:
    """Return the name that the tab gave itself; without scripts, tabs have no name."""
    return str(form.get("actor") or "a page")[:_LONGEST]


async def session_of(request: Request) -> tuple[Services, SessionRow]:
    """Return the session of the path's `key`. Raises NotFound."""
    services = services_of(request)
    key = whole_number(request.path_params["key"])
    row = await services.journal.sessions.get(key) if key is not None else None
    if row is None:
        name = "such session" if key is None else f"session {key}"
        raise NotFound(f"there is no {name}; it may have been deleted")
    return services, row


async def event_of(services: Services, session: SessionRow, number: str | None) -> EventRow | None:
    """Return the event that a query names; None without a number. Raises NotFound."""
    if number is None or number == "":
        return None
    index = whole_number(number)
    body = await services.journal.events.body(session.key, index) if index else None
    if body is None:
        raise no_such_event(session, number)
    return body[0]


async def existing_event(services: Services, session: SessionRow, number: str) -> EventRow:
    """Return the event with this number. Raises NotFound."""
    row = await event_of(services, session, number)
    if row is None:
        raise no_such_event(session, number)
    return row


def no_such_event(session: SessionRow, number: str) -> NotFound:
    """Return the error for a text that isn't the number of an event in the session."""
    index = whole_number(number)
    name = f"event {number!r}" if index is None else f"event #{index}"
    last = f"its last event is #{session.events}" if session.events else "it has no events yet"
    return NotFound(f"session {session.key} has no {name}; {last}")


def theme_of(request: Request) -> Theme:
    """Return the theme that the reader chose, from the cookie."""
    match request.cookies.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
