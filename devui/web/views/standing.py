"""What holds the session's run up and what it prints, as pieces of the session page."""

from starlette.requests import Request
from starlette.responses import Response

from devui.web.presenters.inspection import log as log_panel
from devui.web.presenters.standing import run_panel
from devui.web.views.lookup import event_of, session_of


async def show(request: Request) -> Response:
    """The inspector's tab, read off the run as it stands."""
    found, session = await session_of(request)
    return found.render.page(await run_panel(found, session))


async def log(request: Request) -> Response:
    """The inspector's tab of what the run of `?event=NUMBER` prints, or the newest run."""
    found, session = await session_of(request)
    row = await event_of(found, session, request.query_params.get("event"))
    return found.render.page(await log_panel(found, session, row))
