"""Several selected sessions of an app's list: finding and deleting them."""

from collections.abc import Collection, Sequence
from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.events.news import SessionChanged
from devui.store.errors import RunActive
from devui.store.rows import SessionRow
from devui.web.errors import Unprocessable
from devui.web.links import delete_sessions_url, sessions_url
from devui.web.lookup import theme_of
from devui.web.panels.apps.lists import session_items
from devui.web.panels.apps.parts import DeletePage
from devui.web.panels.apps.session_list import ListQuery, all_sessions
from devui.web.security.intake import read_form
from devui.web.services import Services, services_of
from devui.web.text.formats import plural
from devui.web.text.numbers import whole_number

_MOST_LISTED: Final = 100
"""Maximum number of sessions that the question lists before they are deleted."""


async def delete(request: Request) -> Response:
    """Ask for confirmation; with `confirm`, delete the selected sessions and show the list again.

    Sessions with a run in progress stay.
    """
    services, app = services_of(request), request.path_params["app"]
    form = await read_form(request)
    words = ListQuery.read(request.query_params).words
    if form.get("confirm"):
        # There may be none left, if the form was sent twice or another page has deleted them.
        rows = await services.journal.session_lists.of_app(app, keys_in(form))
        deleted = [await delete_unless_running(services, row) for row in rows].count(True)
        back = sessions_url(app, words | {"deleted": deleted})
        return RedirectResponse(f"{back}#sessions", status_code=303)
    rows = await selected_sessions(request, form)
    idle = [row for row in rows if services.runs.live(row.key) is None]
    page = DeletePage(
        theme=theme_of(request),
        app=app,
        action=delete_sessions_url(app, words),
        back_href=sessions_url(app, words),
        count=plural(len(idle), "session"),
        keys=",".join(str(row.key) for row in idle),
        sessions=await session_items(services, idle[:_MOST_LISTED]),
        more=f"{len(idle) - _MOST_LISTED:,} more" if len(idle) > _MOST_LISTED else "",
        running=await session_items(services, [row for row in rows if row not in idle]),
    )
    return services.render.page(page)


async def selected_sessions(request: Request, form: FormData) -> Sequence[SessionRow]:
    """Return the sessions that the form names, the last changed first, or with `all` those on all
    pages of the list. Raises Unprocessable if there are none."""
    services, app = services_of(request), request.path_params["app"]
    if form.get("all"):
        return await all_sessions(services, app, ListQuery.read(request.query_params))
    keys = keys_in(form)
    rows = await services.journal.session_lists.of_app(app, keys)
    if not rows and keys:
        raise Unprocessable("the selected sessions no longer exist: reload the list")
    if not rows:
        raise Unprocessable("no session is selected: go back and select at least one")
    return rows


def keys_in(form: FormData) -> Collection[int]:
    """Return the session keys in the form, each in a field or several separated by commas; texts
    that aren't keys are skipped."""
    texts = [text for each in form.getlist("session") for text in str(each).split(",")]
    keys = {whole_number(text) for text in texts}
    return [key for key in keys if key]


async def delete_unless_running(services: Services, row: SessionRow) -> bool:
    """Delete a session unless a run is in progress; return whether it was deleted."""
    if services.runs.live(row.key) is not None:
        return False
    try:
        await services.journal.sessions.delete(row.key)
    except RunActive:
        return False
    services.bus.publish(row.key, SessionChanged(None))
    return True
