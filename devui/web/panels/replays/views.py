"""The page's buttons for replaying a run."""

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.background.jobs import JobStopped
from devui.debugger.replays.recordings import NotRecorded
from devui.debugger.replays.replays import ReplayRequest
from devui.store.rows import SessionRow
from devui.web.errors import Unprocessable
from devui.web.links import session_url
from devui.web.lookup import actor_of, session_of
from devui.web.panels.replays.panel import replays
from devui.web.security.intake import read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number


async def start(request: Request) -> Response:
    """Replay a run in a fork, and show the fork."""
    services, session = await session_of(request)
    form = await read_form(request)
    replay_request = ReplayRequest(
        run=await _run(services, session, form),
        live_tools=form.get("live") is not None,
        pause=form.get("pause") is not None,
        engine="other" if form.get("other") is not None else None,
        actor=actor_of(form),
    )
    try:
        with services.jobs.begin("replay", session.title or session.id, session=session.key) as job:
            row = await replays(services).start(session, replay_request, job)
    except JobStopped:
        return RedirectResponse(session_url(session.key, tab="run"), status_code=303)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    return RedirectResponse(session_url(row.session), status_code=303)


async def _run(services: Services, session: SessionRow, form: FormData) -> str | None:
    """Return the run that the form names, or that made its event. Raises Unprocessable."""
    number = whole_number(str(form.get("number") or ""))
    if number is None:
        return str(form.get("run") or "") or None
    body = await services.journal.events.body(session.key, number)
    if body is None or body[0].run is None:
        raise Unprocessable(f"#{number} doesn't belong to a run")
    return body[0].run
