"""Editing of state values: the form, and the event that a change becomes."""

import json
from typing import Any, Literal

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.events.preview import preview
from devui.store.errors import StaleSession
from devui.store.rows import SessionRow
from devui.store.state import scoped
from devui.web.adk.sessions import change_state
from devui.web.errors import BadRequest
from devui.web.htmx import HtmxRequest, replace, say
from devui.web.links import change_state_url, session_url
from devui.web.lookup import session_of
from devui.web.page_query import view_of
from devui.web.panels.state.parts import StateForm
from devui.web.security.intake import parse_typed, parse_typed_or_text, read_form
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.numbers import whole_number

Kind = Literal["text", "number", "boolean", "json"]
_TEMPORARY = "temp:"
_WRITTEN = Markup('<input type="hidden" name="written" value="{}" id="state-written">')
"""The hidden field of the form, as in `state_form.html`."""
_SHORT = 200
"""The most characters of a current value in a message."""


async def state_form(services: Services, session: SessionRow, key: str) -> StateForm:
    """Return the form for a key with its current value; for a new or removed key, as JSON."""
    scope, name = scoped(key)
    state = services.journal.state
    # Read this first: a write between the two reads is then noticed when the form is sent.
    last_seq = await state.last_written(session.key, scope, name) if key else 0
    text = await state.value(session.key, scope, name) if key else None
    value = json.loads(text) if text is not None else None
    kind: Kind = "json" if text is None else _kind(value)
    return StateForm(
        action=change_state_url(session.key),
        cancel_href=session_url(session.key, tab="state"),
        key=key,
        visible_key=visible(key),
        kind=kind,
        text=value if isinstance(value, str) else json.dumps(value),
        json="" if text is None else json.dumps(value, indent=2, ensure_ascii=False),
        last_written=last_seq,
    )


async def change(request: Request) -> Response:
    """Set a state key with an event of the user; refused if it was written after the form was."""
    services, session = await session_of(request)
    form = {name: str(value) for name, value in (await read_form(request)).items()}
    key, last_seq = form.get("key", "").strip(), whole_number(form.get("written"))
    if last_seq is None:
        raise BadRequest("`written` must be the number that the form contained")
    try:
        value = _value(key, form)
    except BadRequest as error:
        if not HtmxRequest.read(request.headers):
            raise
        return HTMLResponse(say("#state-error", str(error)), status_code=422)
    try:
        await change_state(services, session, {key: value}, last_written=last_seq)
    except StaleSession:
        if not HtmxRequest.read(request.headers):
            raise
        return await _renewed(services, session, key)
    view = view_of(request.query_params.get("view"))
    return RedirectResponse(session_url(session.key, tab="state", view=view), status_code=303)


async def _renewed(services: Services, session: SessionRow, key: str) -> Response:
    """Return what lets the form be sent again: the key's current value, and when it was written."""
    form = await state_form(services, session, key)
    value = preview(json.loads(form.json), _SHORT) if form.json else "not set"
    text = f"The value has changed: it is now {value}. Save again to overwrite it."
    written = _WRITTEN.format(form.last_written)
    pieces = say("#state-error", visible(text)) + replace("#state-written", written)
    return HTMLResponse(pieces, status_code=409)


def _kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    # A text area normalizes line ends and can't hold every character.
    return "text" if isinstance(value, str) and "\r" not in value else "json"


def _value(key: str, form: dict[str, str]) -> Any:
    if not key or key.startswith(_TEMPORARY):
        raise BadRequest(
            "Name a state key. `temp:` keys last only for a run and can't be set here."
        )
    how, value = form.get("as"), form.get("value", "").replace("\r\n", "\n")
    if how == "text":
        return value
    text = form.get("json", "") if how in {"json", "either"} else value
    if not text.strip():
        raise BadRequest('Enter a value, such as "London", 3 or {"a": 1}.')
    if how == "either":
        return parse_typed_or_text(text.replace("\r\n", "\n"))
    return parse_typed(text)
