"""What holds the session's run up, as a piece of the session page."""

from starlette.requests import Request
from starlette.responses import Response

from devui.web.presenters.standing import run_panel
from devui.web.views.lookup import session_of


async def show(request: Request) -> Response:
    """The inspector's tab, read off the run as it stands."""
    found, session = await session_of(request)
    return found.render.page(await run_panel(found, session))
