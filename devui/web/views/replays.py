"""The page's buttons for executing a recorded run again."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.recordings import NotRecorded
from devui.debugger.replays import ReplayRequest
from devui.store.rows import SessionRow
from devui.web.actor import actor_of
from devui.web.errors import Unprocessable
from devui.web.links import session_url
from devui.web.replaying import replays
from devui.web.security.intake import read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of


async def start(request: Request) -> Response:
    """Execute a run again in a fork and show that."""
    found, session = await session_of(request)
    form = await read_form(request)
    wanted = ReplayRequest(
        run=await _run(found, session, form),
        live_tools=form.get("live") is not None,
        pause=form.get("pause") is not None,
        actor=actor_of(form),
    )
    try:
        row = await replays(found).start(session, wanted)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    return RedirectResponse(session_url(row.session), status_code=303)


async def _run(found: Services, session: SessionRow, form: FormData) -> str | None:
    """The run that is named, or that made an event. Raises Unprocessable."""
    number = whole_number(str(form.get("number") or ""))
    if number is None:
        return str(form.get("run") or "") or None
    body = await found.journal.events.body(session.key, number)
    if body is None or body[0].run is None:
        raise Unprocessable(f"#{number} is of no run")
    return body[0].run
