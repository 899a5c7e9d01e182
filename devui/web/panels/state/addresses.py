"""What an address names in the state: a moment, a key and a place in its value."""

from starlette.requests import Request

from devui.debugger.history.paths import Pin, path_of
from devui.debugger.history.state_diff import Moment
from devui.store.rows import SessionRow
from devui.web.errors import BadRequest
from devui.web.lookup import no_such_event
from devui.web.services import Services
from devui.web.text.numbers import whole_number


async def moment_of(services: Services, session: SessionRow, number: str | None) -> Moment | None:
    """Return the moment that a query names, None without one; raises NotFound."""
    if number is None or number == "":
        return None
    event = whole_number(number)
    seq = None if event is None else await services.journal.state.moment(session.key, event)
    if event is None or seq is None:
        raise no_such_event(session, number)
    return Moment(event, seq)


def pin_of(request: Request) -> Pin | None:
    """Return the state key of `?key=` and the `?path=` in its value; raises BadRequest."""
    key = request.query_params.get("key")
    if not key:
        return None
    try:
        return Pin(key, path_of(request.query_params.get("path") or ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error
