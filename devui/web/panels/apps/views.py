"""`/apps/{app}`: one app, its sessions, and the form for a new one."""

import asyncio
from dataclasses import replace
from typing import Any, get_args

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.apps.adk_files import starting_state, unread_files
from devui.debugger.runs.request import RunRequest
from devui.store.errors import BadValue, SessionExists
from devui.web.basic_parts import Field
from devui.web.errors import BadRequest, Unprocessable
from devui.web.links import (
    app_graph_url,
    app_url,
    create_session_url,
    memory_url,
    session_url,
    tools_url,
)
from devui.web.lookup import actor_of, theme_of
from devui.web.panels.apps.lists import app_head, example_prompts, unused_file
from devui.web.panels.apps.parts import AppPage, NewSession
from devui.web.panels.apps.session_list import ListQuery, session_list
from devui.web.panels.jobs.panel import job_list
from devui.web.panels.session.notices import server_notices
from devui.web.security.intake import parse_typed, read_form
from devui.web.services import services_of
from devui.web.text.formats import plural
from devui.web.text.numbers import whole_number
from devui.wire.engines import EngineChoice

DEFAULT_USER = "user"
"""The default user of a new session, as in ADK's UI."""


async def show(request: Request) -> Response:
    """Show the app, and start loading it."""
    name = request.path_params["app"]
    return await _page(request, NewSession(create_session_url(name)))


async def reload(request: Request) -> Response:
    """Reload the app's code."""
    name = request.path_params["app"]
    await services_of(request).workers.reload(name)
    return RedirectResponse(app_url(name), status_code=303)


async def choose_engine(request: Request) -> Response:
    """Store the engine that was chosen for the app and reload it; an empty choice restores the
    default."""
    services = services_of(request)
    name = request.path_params["app"]
    services.apps.require(name)
    form = await read_form(request)
    engine = _engine(_text(form, "engine"))
    await services.workers.engines.choose(name, engine, actor_of(form))
    await services.workers.reload(name)
    return RedirectResponse(app_url(name), status_code=303)


async def create_session(request: Request) -> Response:
    """Create a session from the form and go to it; show errors at their fields."""
    services = services_of(request)
    name = request.path_params["app"]
    services.apps.require(name)
    form = await read_form(request)
    try:
        state = _state(_text(form, "state"))
    except BadRequest as error:
        return await _page(request, _form_again(name, form, state=str(error)), status=422)
    try:
        row = await services.journal.sessions.create(
            name,
            _text(form, "user") or DEFAULT_USER,
            _text(form, "id") or None,
            starting_state(services.apps.require(name), state),
            title=_text(form, "title") or None,
        )
    except (SessionExists, BadValue) as error:
        return await _page(request, _form_again(name, form, id=str(error)), status=422)
    if text := _text(form, "text"):
        message = {"role": "user", "parts": [{"text": text}]}
        await services.runs.start(
            row, RunRequest(message=message, streaming=True, actor=actor_of(form))
        )
    return RedirectResponse(session_url(row.key), status_code=303)


async def _page(request: Request, form: NewSession, *, status: int = 200) -> Response:
    services = services_of(request)
    name = request.path_params["app"]
    services.workers.warm(name)
    query = ListQuery.read(request.query_params)
    sessions = await session_list(services, name, query)
    is_first = not (sessions.sessions or sessions.is_filtered)
    readme = services.apps.readme(name)
    unused_files = await asyncio.to_thread(unread_files, services.apps.require(name))
    page = AppPage(
        theme=theme_of(request),
        head=app_head(
            services.workers.status(name),
            services.apps.about(name),
            services.workers.engines.default,
        ),
        readme=readme,
        tools_href=tools_url(name),
        graph_href=app_graph_url(name),
        memory_href=memory_url(name),
        form=replace(form, has_focus=is_first and not form.open),
        prompts=() if form.disabled_reason else tuple(example_prompts(readme)),
        sessions=replace(sessions, deed=_deed(request)),
        unused_files=tuple(unused_file(each) for each in unused_files),
        journal=server_notices(services),
        jobs=job_list(services.jobs, None),
    )
    return services.render.page(page, status=status)


def _deed(request: Request) -> str:
    deleted = whole_number(request.query_params.get("deleted"))
    return f"Deleted {plural(deleted, 'session')}." if deleted else ""


def _engine(text: str) -> EngineChoice | None:
    for engine in get_args(EngineChoice):
        if text == engine:
            choice: EngineChoice = engine
            return choice
    if text:
        raise Unprocessable(f"the engine must be one of {', '.join(get_args(EngineChoice))}")
    return None


def _text(form: FormData, name: str) -> str:
    return str(form.get(name) or "").strip()


def _state(text: str) -> dict[str, Any]:
    if not text:
        return {}
    state = parse_typed(text)
    if not isinstance(state, dict):
        raise BadRequest('the initial state must be a JSON object, such as {"city": "London"}')
    return state


def _form_again(app: str, form: FormData, **errors: str) -> NewSession:
    def field(name: str) -> Field:
        return Field(_text(form, name), errors.get(name, ""))

    return NewSession(
        create_session_url(app),
        title=field("title"),
        id=field("id"),
        user=field("user"),
        state=field("state"),
        open=True,
        text=_text(form, "text"),
    )
