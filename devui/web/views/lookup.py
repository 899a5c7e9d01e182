"""What an address names: a session, an event, the reader's theme."""

from starlette.requests import Request

from devui.store.rows import EventRow, SessionRow
from devui.web.errors import NotFound
from devui.web.pages import Theme
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number


async def session_of(request: Request) -> tuple[Services, SessionRow]:
    """The session of the path's `key`; raises NotFound."""
    found = services(request)
    key = whole_number(request.path_params["key"])
    row = await found.journal.sessions.get(key) if key is not None else None
    if row is None:
        name = "such session" if key is None else f"session {key}"
        raise NotFound(f"there is no {name}; it may have been deleted")
    return found, row


async def event_of(found: Services, session: SessionRow, number: str | None) -> EventRow | None:
    """The event a query names, or None without one; raises NotFound for a number of no event."""
    if number is None or number == "":
        return None
    wanted = whole_number(number)
    body = await found.journal.events.body(session.key, wanted) if wanted else None
    if body is None:
        name = "such event" if wanted is None else f"event #{wanted}"
        raise NotFound(f"session {session.key} has no {name}: it has {session.events}")
    return body[0]


def theme_of(request: Request) -> Theme:
    """What the reader chose, from the cookie."""
    match request.cookies.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
