"""Forms of the queue: edit a message, remove it, send it now."""

from starlette.requests import Request
from starlette.responses import Response

from devui.web.errors import BadRequest, NotFound
from devui.web.lookup import session_of
from devui.web.panels.recovery.views import acknowledge
from devui.web.security.intake import read_form
from devui.web.text.numbers import whole_number


async def change(request: Request) -> Response:
    """Edit, remove or send a queued message, depending on the button."""
    services, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    if number is None:
        raise NotFound("there is no such message in the queue")
    form = await read_form(request)
    match form.get("do"):
        case "edit":
            text = str(form.get("text") or "").strip()
            await services.queue.change(session.key, number, text)
        case "remove":
            await services.queue.remove(session.key, number)
        case "send":
            await services.queue.send(session, number)
        case other:
            raise BadRequest(f"queued messages have no action {other!r}: use edit, remove, or send")
    return acknowledge(request, session.key)
