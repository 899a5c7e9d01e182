"""What a request names: a session, an event, the reader's theme, who acts."""

from starlette.datastructures import FormData
from starlette.requests import Request

from devui.store.rows import EventRow, SessionRow
from devui.web.basic_parts import Theme
from devui.web.errors import NotFound
from devui.web.services import Services, services_of
from devui.web.text.numbers import whole_number

_LONGEST = 100


def actor_of(form: FormData) -> str:
    """The name that the tab has given itself; without scripts it has none."""
    return str(form.get("actor") or "a page")[:_LONGEST]


async def session_of(request: Request) -> tuple[Services, SessionRow]:
    """The session of the path's `key`; raises NotFound."""
    services = services_of(request)
    key = whole_number(request.path_params["key"])
    row = await services.journal.sessions.get(key) if key is not None else None
    if row is None:
        name = "such session" if key is None else f"session {key}"
        raise NotFound(f"there is no {name}; it may have been deleted")
    return services, row


async def event_of(services: Services, session: SessionRow, number: str | None) -> EventRow | None:
    """The event a query names, or None without one; raises NotFound for a number of no event."""
    if number is None or number == "":
        return None
    index = whole_number(number)
    body = await services.journal.events.body(session.key, index) if index else None
    if body is None:
        raise no_such_event(session, number)
    return body[0]


async def existing_event(services: Services, session: SessionRow, number: str) -> EventRow:
    """The event of this number; raises NotFound."""
    row = await event_of(services, session, number)
    if row is None:
        raise no_such_event(session, number)
    return row


def no_such_event(session: SessionRow, number: str) -> NotFound:
    """The error for a number of no event of the session, or for what is no number."""
    index = whole_number(number)
    name = f"event {number!r}" if index is None else f"event #{index}"
    last = f"its last event is #{session.events}" if session.events else "it has no events yet"
    return NotFound(f"session {session.key} has no {name}; {last}")


def theme_of(request: Request) -> Theme:
    """What the reader chose, from the cookie."""
    match request.cookies.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
