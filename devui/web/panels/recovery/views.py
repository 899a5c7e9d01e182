"""The page's buttons for interrupted invocations, forks and rewinds."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup, escape
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from devui.debugger.guard.guard import Policy
from devui.debugger.predicates.expressions import similar
from devui.debugger.recovery.answers import CallAnswer, DecisionRequired
from devui.debugger.recovery.fork_maker import ForkRequest
from devui.debugger.stepping.commands import Like
from devui.store.rows import SessionRow
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest, redirect, renew
from devui.web.links import session_url
from devui.web.lookup import actor_of, session_of, theme_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.breakpoints.from_event import traits_of
from devui.web.panels.questions.schema_forms import WrongFields
from devui.web.panels.recovery.actions import (
    ask_no_more,
    invocation_of,
    make_fork,
    opening_message,
    rewind_session,
    run_fork,
)
from devui.web.panels.recovery.event_fields import with_fields
from devui.web.panels.recovery.panel import again_menu, unknown_slot
from devui.web.panels.session.page import RerunPage
from devui.web.security.intake import parse_typed, read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.wire.events import USER

_LIMIT = 20_000_000


async def close(request: Request) -> Response:
    """Close an interrupted invocation without resuming it."""
    services, session = await session_of(request)
    await ask_no_more(services, session)
    return acknowledge(request, session.key)


async def fork(request: Request) -> Response:
    """Make a fork and show it; with `run`, also run it unless calls need a decision. A `text`
    replaces the parent's message.

    Invalid values are reported in the form, which stays as it was filled in.
    """
    services, session = await session_of(request)
    form = await read_form(request)
    run_to = None
    try:
        order = _fork_request(form)
        if form.get("run") == "to_here":
            order, run_to = await _to_here(services, session, order)
        elif form.get("change") == "fields":
            order = replace(
                order, event=await _event_from_fields(services, session, order.number, form)
            )
        child = await make_fork(services, session, order)
    except Unprocessable as error:
        if not HtmxRequest.read(request.headers):
            raise
        alert = renew(".fork [role=alert]", escape(str(error)))
        return HTMLResponse(alert, status_code=error.status)
    if form.get("run") is not None:
        with contextlib.suppress(DecisionRequired, Conflict):  # the fork's own page says why
            await run_fork(
                services,
                child,
                text=_text(form),
                policy=_policy(form),
                run_to=run_to,
                actor=actor_of(form),
            )
    return _gone_to(request, session_url(child.key))


async def again(request: Request) -> Response:
    """Return the menu of a user's message; a whole page, unless htmx asks."""
    services, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    body = await services.journal.events.body(session.key, number) if number else None
    menu = await again_menu(services, session, *body) if body and body[0].author == USER else None
    if menu is None:
        raise NotFound("there is no such user message")
    if HtmxRequest.read(request.headers):
        return services.render.page(menu)
    page = RerunPage(theme_of(request), session_name(session), session_url(session.key), menu)
    return services.render.page(page)


async def rewind(request: Request) -> Response:
    """Rewind the session to before a message; then send the text if there is one, or with
    `unchanged` the same message."""
    services, session = await session_of(request)
    form = await read_form(request)
    invocation = await invocation_of(
        services, session, whole_number(str(form.get("number") or "")) or 0
    )
    await rewind_session(
        services,
        session,
        invocation,
        text=_text(form),
        unchanged="unchanged" in form,
        policy=_policy(form),
        actor=actor_of(form),
    )
    return acknowledge(request, session.key)


def call_answers(form: FormData) -> dict[str, CallAnswer]:
    """Return the form's decisions about calls: `do:ID`, `result:ID`, `reason:ID`.

    Raises WrongFields, with the ids of the calls whose results aren't JSON.
    """
    answers: dict[str, CallAnswer] = {}
    wrong: dict[str, str] = {}
    for name, value in form.multi_items():
        if not name.startswith("do:"):
            continue
        call = name.removeprefix("do:")
        if value == "result":
            try:
                result = _result(str(form.get(f"result:{call}") or ""))
            except Unprocessable as error:
                wrong[call] = str(error)
            else:
                answers[call] = CallAnswer(do="result", result=result)
        elif value == "fail":
            answers[call] = CallAnswer(do="fail", reason=str(form.get(f"reason:{call}") or ""))
        elif value == "recorded":
            answers[call] = CallAnswer(do="recorded")
        elif value in {"run", "wait"}:
            answers[call] = CallAnswer(do="run" if value == "run" else "wait")
    if wrong:
        raise WrongFields(wrong)
    return answers


def ask_again(request: Request, form: FormData, wrong: WrongFields) -> Response:
    """Return the errors in the results, each for its place in the form, which stays as it was.

    Raises Unprocessable if the page has no script to show them.
    """
    if not HtmxRequest.read(request.headers):
        raise Unprocessable(str(wrong)) from wrong
    calls = (name.removeprefix("do:") for name in form if name.startswith("do:"))
    alerts = Markup("").join(
        renew(f"#{unknown_slot(call)}-wrong", escape(wrong.errors.get(call, ""))) for call in calls
    )
    return HTMLResponse(alerts, status_code=Unprocessable.status)


def _fork_request(form: FormData) -> ForkRequest:
    number, change = whole_number(str(form.get("number") or "")), str(form.get("change") or "same")
    if number is None:
        raise Unprocessable("choose the event to fork at")
    note = str(form.get("note") or "") or None
    state = event = None
    if change == "state":
        state = _object(str(form.get("state") or ""), "the state")
    elif change == "event":
        event = _object(str(form.get("event") or ""), "the event")
    return ForkRequest(
        number=number,
        message=change == "message",
        state=state,
        event=event,
        note=note,
        actor=actor_of(form),
    )


async def _to_here(
    services: Services, session: SessionRow, order: ForkRequest
) -> tuple[ForkRequest, Like]:
    """Return a fork before the message that led to the event, and where its run is held."""
    body = await services.journal.events.body(session.key, order.number)
    row = body[0] if body else None
    message = await opening_message(services, session.key, row.invocation_id) if row else 0
    if row is None or not message:
        raise Unprocessable(f"no message that led to #{order.number} can be sent again")
    traits = traits_of(row, row.summary)
    like = Like(condition=similar(**traits))
    if row.summary.kind == "call":  # its arguments are edited before the tool, not at the commit
        like = Like(gate="before_tool", condition=similar(**{**traits, "kind": None}))
    return replace(order, number=message, message=True, state=None, event=None), like


async def _event_from_fields(
    services: Services, session: SessionRow, number: int, form: FormData
) -> dict[str, Any]:
    """Return the event of that number with the values of the form's fields."""
    body = await services.journal.events.body(session.key, number)
    if body is None:
        raise NotFound(f"session {session.key} has no event #{number}")
    entries = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        return with_fields(body[1], entries)
    except WrongFields as wrong:
        raise Unprocessable("; ".join(wrong.errors.values())) from wrong


def _text(form: FormData) -> str | None:
    """Return the text to send; a browser without script submits lines that end in CRLF."""
    return str(form.get("text") or "").replace("\r\n", "\n") or None


def _policy(form: FormData) -> Policy:
    """Return what to do about tools that have run before."""
    match form.get("guard"):
        case "recorded":
            return "recorded"
        case "run":
            return "run"
        case _:
            return "ask"


def _object(text: str, what: str) -> Mapping[str, Any]:
    value = _json(text, what)
    if not isinstance(value, dict):
        raise Unprocessable(f"{what} must be a JSON object")
    return value


def _result(text: str) -> Any:
    if not text.strip():  # a field left empty isn't a null
        raise Unprocessable("Enter the result as JSON, or null if there is none.")
    return _json(text, "the result")


def _json(text: str, what: str) -> Any:
    try:
        json.loads(text)
    except ValueError as error:
        raise Unprocessable(f"{what} isn't valid JSON: {error}") from error
    return parse_typed(text)


def _gone_to(request: Request, url: str) -> Response:
    if HtmxRequest.read(request.headers):
        return Response(status_code=204, headers=redirect(url))
    return RedirectResponse(url, status_code=303)


def acknowledge(request: Request, session: int) -> Response:
    """Return nothing for htmx, which sees the change on the stream; a plain form gets the page."""
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(session_url(session), status_code=303)
