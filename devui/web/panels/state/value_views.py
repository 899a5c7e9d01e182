"""State too large for a panel: many keys, or one large value, a part at a time."""

import asyncio
import json
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.history.blame import ABSENT
from devui.debugger.history.paths import Path, Pin, path_of, path_text
from devui.store.rows import Scope
from devui.store.state import scoped
from devui.web.basic_parts import JsonTree
from devui.web.errors import BadRequest, NotFound
from devui.web.htmx import HtmxRequest
from devui.web.links import (
    event_value_url,
    session_url,
    state_api_url,
    state_keys_url,
    state_value_url,
    whole_event_url,
)
from devui.web.lookup import existing_event, no_such_event, session_of, theme_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.state.addresses import moment_of, pin_of
from devui.web.panels.state.keys import state_keys
from devui.web.panels.state.pages import StateKeysPage, ValuePage
from devui.web.panels.state.panel import SCOPES
from devui.web.panels.state.step_chart import value_at
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import Rest, json_items
from devui.web.text.numbers import whole_number


async def keys(request: Request) -> Response:
    """Return the keys of a `?scope=` as of the event `at` that contain `find`, beginning with
    `from`: only these for htmx, a whole page otherwise."""
    services, session = await session_of(request)
    query = request.query_params
    scope = _scope(query.get("scope") or "session")
    at = await moment_of(services, session, query.get("at"))
    seq, number = (at.seq, at.number) if at else (None, None)
    start, find = query.get("from") or "", query.get("find") or ""
    listing = await state_keys(
        services.journal, session.key, scope, seq=seq, number=number, start=start, find=find
    )
    if HtmxRequest.read(request.headers).partial:
        return services.render.page(listing)
    count = await services.journal.state.count(session.key, scope, seq, find=find)
    page = StateKeysPage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_url(session.key, event=number or None, tab="state"),
        action=state_keys_url(session.key, scope).partition("?")[0],
        scopes=tuple((each, label) for each, (label, _) in SCOPES.items()),
        scope=scope,
        at=number,
        find=find,
        start=visible(start),
        count=plural(count, "key"),
        keys=listing,
    )
    return services.render.page(page)


async def of_state(request: Request) -> Response:
    """Return the value of the state key `?key=` at its `path`, from a position on."""
    services, session = await session_of(request)
    pin = pin_of(request)
    if pin is None:
        raise BadRequest("name the key: `?key=plan`, or `?key=user:name`")
    at = await moment_of(services, session, request.query_params.get("at"))
    scope, key = scoped(pin.key)
    text = await services.journal.state.value(session.key, scope, key, at.seq if at else None)
    if text is None:
        raise NotFound(f"the state has no key {visible(pin.key)!r} there")
    number = at.number if at else None

    def link(path: Path, start: int) -> str:
        return state_value_url(session.key, Pin(pin.key, path), start, at=number)

    return await _stretch(
        request,
        text,
        pin.path,
        link=link,
        place=pin.key + path_text(("", *pin.path)).removeprefix('[""]'),
        session_href=session_url(session.key, event=number or None, tab="state"),
        whole_href=state_api_url(session.key, number),
    )


async def of_event(request: Request) -> Response:
    """Return an event's value at a `?path=`, from a position on."""
    services, session = await session_of(request)
    number = request.path_params["number"]
    row = await existing_event(services, session, number)
    body = await services.journal.events.body(session.key, row.number)
    if body is None:
        raise no_such_event(session, number)
    try:
        path = path_of(request.query_params.get("path") or "")
    except ValueError as error:
        raise BadRequest(str(error)) from error
    return await _stretch(
        request,
        body[1].text,
        path,
        link=partial(event_value_url, session.key, row.number),
        place=f"#{row.number} {path_text(path)}",
        session_href=session_url(session.key, event=row.number),
        whole_href=whole_event_url(session.key, row.number),
    )


async def _stretch(
    request: Request,
    text: str,
    path: Path,
    *,
    link: Rest,
    place: str,
    session_href: str,
    whole_href: str,
) -> Response:
    """Return part of the value at a path in some JSON."""
    services, session = await session_of(request)
    start = whole_number(request.query_params.get("from")) or 0
    build = partial(_items, text, path, start, link)
    try:
        items = await asyncio.to_thread(build)
    except LookupError as error:
        raise NotFound(f"there is no value at {visible(place)}") from error
    if HtmxRequest.read(request.headers).partial:
        return services.render.page(items)
    page = ValuePage(
        theme=theme_of(request),
        name=session_name(session),
        session_href=session_href,
        place=visible(place),
        items=items,
        beginning_href=link(path, 0) if start else "",
        whole_href=whole_href,
    )
    return services.render.page(page)


def _items(text: str, path: Path, start: int, link: Rest) -> JsonTree:
    value = value_at(json.loads(text), path)
    if value is ABSENT:
        raise LookupError(path_text(path))
    return json_items(value, start, rest=lambda within, at: link((*path, *within), at))


def _scope(name: str) -> Scope:
    for scope in SCOPES:
        if scope == name:
            return scope
    raise BadRequest(f"scope must be one of {', '.join(SCOPES)}")
