"""`/apps/{app}`: one app, its sessions, and a way to start another."""

from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.store.errors import BadValue, SessionExists
from devui.web.errors import BadRequest
from devui.web.links import app_url, create_session_url, session_url, tools_url
from devui.web.pages.apps import AppPage
from devui.web.parts.apps import Field, NewSession
from devui.web.presenters.listing import session_items
from devui.web.presenters.lists import app_head
from devui.web.presenters.servernotices import server_notices
from devui.web.security.intake import parse_json, read_form
from devui.web.services import services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import theme_of

_PAGE = 50
DEFAULT_USER = "user"
"""Who the developer is unless they say otherwise, as in ADK's UI."""


async def show(request: Request) -> Response:
    """The app; looking at it loads it."""
    name = request.path_params["app"]
    return await _page(request, NewSession(create_session_url(name)))


async def reload(request: Request) -> Response:
    """Load the app's code anew."""
    name = request.path_params["app"]
    await services(request).workers.reload(name)
    return RedirectResponse(app_url(name), status_code=303)


async def create_session(request: Request) -> Response:
    """Create a session from the form and go to it; what is wrong is shown at its field."""
    found = services(request)
    name = request.path_params["app"]
    found.apps.require(name)
    form = await read_form(request)
    try:
        state = _state(_text(form, "state"))
    except BadRequest as error:
        return await _page(request, _refused(name, form, state=str(error)), status=422)
    try:
        row = await found.journal.sessions.create(
            name,
            _text(form, "user") or DEFAULT_USER,
            _text(form, "id") or None,
            state,
            title=_text(form, "title") or None,
        )
    except (SessionExists, BadValue) as error:
        return await _page(request, _refused(name, form, id=str(error)), status=422)
    return RedirectResponse(session_url(row.key), status_code=303)


async def _page(request: Request, form: NewSession, *, status: int = 200) -> Response:
    found = services(request)
    name = request.path_params["app"]
    found.workers.warm(name)
    asked = request.query_params.get("before")
    before = whole_number(asked)
    if asked and before is None:
        raise BadRequest("`before` has to be a number: the seq of the last session shown")
    starred = bool(request.query_params.get("starred"))
    listed = found.journal.sessions.starred if starred else found.journal.sessions.list
    rows = await listed(name, limit=_PAGE, before=before)
    page = AppPage(
        theme=theme_of(request),
        head=app_head(found.workers.status(name), found.apps.about(name)),
        readme=found.apps.readme(name),
        tools_href=tools_url(name),
        form=form,
        sessions=await session_items(found, rows, pick=len(rows) > 1),
        older_href=f"{app_url(name)}?{'starred=yes&' if starred else ''}before={rows[-1].seq}"
        if len(rows) == _PAGE
        else None,
        starred=starred,
        journal=server_notices(found),
    )
    return found.render.page(page, status=status)


def _text(form: FormData, name: str) -> str:
    return str(form.get(name) or "").strip()


def _state(text: str) -> dict[str, Any]:
    if not text:
        return {}
    state = parse_json(text.encode())
    if not isinstance(state, dict):
        raise BadRequest('the initial state has to be a JSON object, such as {"city": "London"}')
    return state


def _refused(app: str, form: FormData, **errors: str) -> NewSession:
    def field(name: str) -> Field:
        return Field(_text(form, name), errors.get(name, ""))

    return NewSession(
        create_session_url(app),
        title=field("title"),
        id=field("id"),
        user=field("user"),
        state=field("state"),
        open=True,
    )
