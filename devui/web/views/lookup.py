"""What an address names: a session, an event, the reader's theme."""

from starlette.requests import Request

from devui.store.rows import EventRow, SessionRow
from devui.web.errors import NotFound
from devui.web.pages import Theme
from devui.web.services import Services, services


async def session_of(request: Request) -> tuple[Services, SessionRow]:
    """The session of the path's `key`; raises NotFound."""
    found = services(request)
    key: int = request.path_params["key"]
    row = await found.journal.sessions.get(key)
    if row is None:
        raise NotFound(f"there is no session {key}; it may have been deleted")
    return found, row


async def event_of(found: Services, session: SessionRow, number: str | None) -> EventRow | None:
    """The event a query names, or None without one; raises NotFound for a number of no event."""
    if number is None or number == "":
        return None
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
    body = await found.journal.events.body(session.key, wanted)
    if body is None:
        raise NotFound(f"session {session.key} has no event #{number}: it has {session.events}")
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
