"""Notes and stars from the page."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.web.errors import NotFound
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url
from devui.web.lookup import actor_of, session_of
from devui.web.panels.notes.api import save_note
from devui.web.panels.notes.live import marks_of
from devui.web.panels.notes.parts import note_form
from devui.web.security.intake import read_form
from devui.web.text.numbers import whole_number


async def change(request: Request) -> Response:
    """Star an event or write a note on it; 0 is the session."""
    services, session = await session_of(request)
    form = await read_form(request)
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("notes can only be added to an event or the session")
    text, star = form.get("text"), form.get("starred")
    row = await save_note(
        services,
        session.key,
        number,
        text=None if text is None else str(text),
        starred=None if star is None else star == "yes",
        actor=actor_of(form),
    )
    if HtmxRequest.read(request.headers):
        markup = services.render.part(note_form(session.key, number, row))
        return HTMLResponse(markup + marks_of(services, [row]))
    return RedirectResponse(session_url(session.key, event=number or None), status_code=303)
