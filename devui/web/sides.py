"""What an address compares: `left` and `right`, each a session or one of its runs.

A session is named by its key, a run of it by its place: `12@2` is the second run of session 12.
"""

from starlette.requests import Request

from devui.debugger.compare.moments import Moment, moment
from devui.debugger.compare.sides import NoSuchRun, Side, read_side
from devui.web.errors import BadRequest, NotFound
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number


async def sides_of(request: Request) -> tuple[Services, Side, Side]:
    """Both sides; raises BadRequest for a side that is not named, and NotFound."""
    found = services(request)
    left, right = [await side_of(found, request, name) for name in ("left", "right")]
    return found, left, right


async def side_of(found: Services, request: Request, name: str) -> Side:
    """The side that the query names; raises BadRequest, NotFound."""
    text = request.query_params.get(name, "")
    key, at, place = text.partition("@")
    session, run = whole_number(key), whole_number(place)
    if session is None or (at and not run):
        raise BadRequest(f"`{name}` names a session by its number, or one of its runs: 12, or 12@2")
    row = await found.journal.sessions.get(session)
    if row is None:
        raise NotFound(f"there is no session {session}; it may have been deleted")
    try:
        return await read_side(found.journal, row, run)
    except NoSuchRun as error:
        raise NotFound(str(error)) from error


async def event_of_side(found: Services, request: Request, side: Side, name: str) -> Moment | None:
    """The event of a side that the query names, None without one; raises NotFound."""
    text = request.query_params.get(name)
    if not text:
        return None
    number = whole_number(text)
    event = await moment(found.journal, side.session, number) if number else None
    if event is None:
        raise NotFound(
            f"session {side.session.key} has no event {text!r}: it has {side.session.events}"
        )
    return event
