"""The page's buttons for going on, back and another way: close, fork, rewind."""

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
from devui.debugger.recovery.answers import CallAnswer, Undecided
from devui.debugger.recovery.forking import ForkRequest
from devui.debugger.stepping.commands import Like
from devui.store.rows import SessionRow
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest, redirect, renew
from devui.web.links import session_url
from devui.web.lookup import actor_of, session_of, theme_of
from devui.web.panels.apps.lists import session_name
from devui.web.panels.breakpoints.from_event import traits_of
from devui.web.panels.chat.chat import again_menu
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
from devui.web.panels.recovery.panel import unknown_slot
from devui.web.panels.session.page import AgainPage
from devui.web.security.intake import parse_typed, read_form
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.wire.events import USER

_LIMIT = 20_000_000


async def close(request: Request) -> Response:
    """Ask no more about what was cut off."""
    services, session = await session_of(request)
    await ask_no_more(services, session)
    return acknowledge(request, session.key)


async def fork(request: Request) -> Response:
    """Make a fork and show it; with `run` it goes on at once, unless calls are to be decided.

    What makes no sense is told in the form, which stays as it was filled in.
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
        with contextlib.suppress(Undecided, Conflict):  # the fork's own page tells
            await run_fork(
                services,
                child,
                streaming=True,
                policy=_policy(form),
                run_to=run_to,
                actor=actor_of(form),
            )
    return _gone_to(request, session_url(child.key))


async def again(request: Request) -> Response:
    """The menu of a user's message; a page, unless htmx asks."""
    services, session = await session_of(request)
    number = whole_number(request.path_params["number"])
    body = await services.journal.events.body(session.key, number) if number else None
    menu = again_menu(body[0].number, body[1], session.key) if body else None
    if menu is None or body is None or body[0].author != USER:
        raise NotFound("there is no such user message")
    if HtmxRequest.read(request.headers):
        return services.render.page(menu)
    page = AgainPage(theme_of(request), session_name(session), session_url(session.key), menu)
    return services.render.page(page)


async def rewind(request: Request) -> Response:
    """Take the session back to before a message; then say it in another way if there is a text, or
    as it was with `unchanged`."""
    services, session = await session_of(request)
    form = await read_form(request)
    invocation = await invocation_of(
        services, session, whole_number(str(form.get("number") or "")) or 0
    )
    await rewind_session(
        services,
        session,
        invocation,
        text=str(form.get("text") or "") or None,
        unchanged="unchanged" in form,
        policy=_policy(form),
        actor=actor_of(form),
    )
    return acknowledge(request, session.key)


def call_answers(form: FormData) -> dict[str, CallAnswer]:
    """What the bar's form says about calls: `do:ID`, `result:ID`, `reason:ID`.

    Raises WrongFields, with the ids of the calls whose results are no JSON.
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
    """What is wrong with the results, at each; raises Unprocessable where no script puts it there.

    All else that was filled in stays as it is.
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
    """A fork before the message that led to the event, and what to run to in it."""
    body = await services.journal.events.body(session.key, order.number)
    row = body[0] if body else None
    message = await opening_message(services, session.key, row.invocation_id) if row else 0
    if row is None or not message:
        raise Unprocessable(f"no message led to #{order.number} that could be sent again")
    traits = traits_of(row, row.summary)
    like = Like(condition=similar(**traits))
    if row.summary.kind == "call":  # its arguments are edited before the tool, not at the commit
        like = Like(gate="before_tool", condition=similar(**{**traits, "kind": None}))
    return replace(order, number=message, message=True, state=None, event=None), like


async def _event_from_fields(
    services: Services, session: SessionRow, number: int, form: FormData
) -> dict[str, Any]:
    """The event of that number with what the form's fields say."""
    body = await services.journal.events.body(session.key, number)
    if body is None:
        raise NotFound(f"session {session.key} has no event #{number}")
    entries = {name: value for name, value in form.items() if isinstance(value, str)}
    try:
        return with_fields(body[1], entries)
    except WrongFields as wrong:
        raise Unprocessable("; ".join(wrong.errors.values())) from wrong


def _policy(form: FormData) -> Policy:
    """What is to become of tools that have run before."""
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
    """Nothing for htmx, which sees the change on the stream; the page again for a plain form."""
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(session_url(session), status_code=303)
