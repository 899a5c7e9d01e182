"""Notes and stars from the page."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.web.actor import actor_of
from devui.web.api.notes import noted
from devui.web.errors import NotFound
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url
from devui.web.presenters.noting import marked, note_form
from devui.web.security.intake import read_form
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of


async def change(request: Request) -> Response:
    """Star an event or write about it; 0 is the session."""
    found, session = await session_of(request)
    form = await read_form(request)
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("a note belongs to an event of the session")
    text, star = form.get("text"), form.get("starred")
    row = await noted(
        found,
        session.key,
        number,
        text=None if text is None else str(text),
        starred=None if star is None else star == "yes",
        actor=actor_of(form),
    )
    if HtmxRequest.read(request.headers):
        shown = found.render.part(note_form(session.key, number, row))
        return HTMLResponse(shown + marked(found, [row]))
    return RedirectResponse(session_url(session.key, event=number or None), status_code=303)
