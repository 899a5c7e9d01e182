"""What an address names: a session, an event, the reader's theme."""

from starlette.requests import Request

from devui.debugger.blame import Pin, path_of
from devui.debugger.statediff import Moment
from devui.store.rows import EventRow, SessionRow
from devui.web.errors import BadRequest, NotFound
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


async def moment_of(found: Services, session: SessionRow, number: str | None) -> Moment | None:
    """The point of time that a query names, or None without one; raises NotFound."""
    if number is None or number == "":
        return None
    wanted = whole_number(number)
    seq = None if wanted is None else await found.journal.state.moment(session.key, wanted)
    if wanted is None or seq is None:
        name = "such event" if wanted is None else f"event #{wanted}"
        raise NotFound(f"session {session.key} has no {name}: it has {session.events}")
    return Moment(wanted, seq)


def pin_of(request: Request) -> Pin | None:
    """The state key that `?key=` names, and the `?path=` in its value; raises BadRequest."""
    key = request.query_params.get("key")
    if not key:
        return None
    try:
        return Pin(key, path_of(request.query_params.get("path") or ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error


def theme_of(request: Request) -> Theme:
    """What the reader chose, from the cookie."""
    match request.cookies.get("theme"):
        case "light":
            return "light"
        case "dark":
            return "dark"
        case _:
            return "auto"
