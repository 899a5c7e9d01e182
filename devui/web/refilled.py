"""What a form was sent with and cannot be: told at its fields, which keep what was typed."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from devui.web.errors import Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.parts.asking import AskField, AskFields
from devui.web.presenters.schemaforms import Fields, WrongFields, filled_again
from devui.web.push import renew
from devui.web.render import Renderer


def refilled(
    request: Request,
    render: Renderer,
    slot: str,
    fields: Iterable[AskField],
    *,
    given: Fields,
    wrong: WrongFields,
) -> Response:
    """The fields of `slot` once more, as they were filled in, the first wrong one with the focus.

    Raises Unprocessable where no script would put them into the page.
    """
    if not HtmxRequest.read(request.headers):
        raise Unprocessable(str(wrong)) from wrong
    again = tuple(filled_again(field, given, wrong.errors) for field in fields)
    html = renew(f"#{slot}-fields", render.part(AskFields(slot, again)))
    return HTMLResponse(html, status_code=Unprocessable.status)
