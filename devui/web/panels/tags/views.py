"""Tags from the pages: of one session, and of several selected ones."""

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.store.errors import BadValue
from devui.web.errors import BadRequest
from devui.web.htmx import HtmxRequest, renew
from devui.web.links import session_url, sessions_url
from devui.web.lookup import session_of
from devui.web.panels.apps.selection import selected_sessions
from devui.web.panels.apps.session_list import ListQuery
from devui.web.panels.tags.changes import change_tags, tag_names
from devui.web.panels.tags.panel import session_tags, tag_field, tag_updates
from devui.web.security.intake import read_form
from devui.web.services import services_of


async def change(request: Request) -> Response:
    """Add the tags `add` to the session, several separated by commas, or remove the tag `remove`.

    An invalid tag is reported in the form, which stays as it was filled in.
    """
    services, session = await session_of(request)
    form = await read_form(request)
    add, remove = form.get("add"), [str(each) for each in form.getlist("remove")]
    is_htmx = HtmxRequest.read(request.headers)
    try:
        names = tag_names(str(add)) if add is not None else []
        await change_tags(services, [session.key], add=names, remove=remove)
    except BadValue as error:
        if not is_htmx:
            raise
        return HTMLResponse(renew("#tag-error", escape(str(error))), status_code=400)
    if not is_htmx:
        return RedirectResponse(session_url(session.key), status_code=303)
    tags = await session_tags(services, session)
    field = services.render.part(await tag_field(services, session, tags, has_focus=True))
    updates = tag_updates(services, tags) + renew("#tag-field", field)
    return HTMLResponse(updates + renew("#tag-error", Markup("")))


async def change_selected(request: Request) -> Response:
    """Add the tags in the form to the selected sessions, or remove them with `do=remove`, and show
    the list again."""
    services, app = services_of(request), request.path_params["app"]
    form = await read_form(request)
    words = ListQuery.read(request.query_params).words
    rows = await selected_sessions(request, form)
    names = tag_names(str(form.get("tags") or ""))
    if (order := form.get("do")) not in {"add", "remove"}:
        raise BadRequest("set do to add or remove")
    keys = [row.key for row in rows]
    if order == "add":
        await change_tags(services, keys, add=names)
    else:
        await change_tags(services, keys, remove=names)
    return RedirectResponse(f"{sessions_url(app, words)}#sessions", status_code=303)
