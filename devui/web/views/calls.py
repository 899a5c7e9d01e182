"""Calls that are under way: end one, or answer in its place."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from devui.debugger.stepping.commands import CommandRefused, Misused
from devui.web.api.bodies import parse
from devui.web.api.debug import CallBody
from devui.web.errors import Conflict, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.presenters.changing import value_of
from devui.web.presenters.schemaforms import WrongFields
from devui.web.presenters.standing import answer_form, call_ending
from devui.web.push import fill
from devui.web.security.intake import read_form
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number
from devui.web.views.runs import actor_of, done


async def end(request: Request) -> Response:
    """Carry the order out; what does not fit the tool's schema is told at its field."""
    found, run = services(request), request.path_params["run"]
    form = await read_form(request)
    if "filled" not in form:
        return await _ordered(request, found, run, form, _typed(form))
    call = await _call_of(found, run, form)
    given = {name: str(value) for name, value in form.items()}
    try:
        value = answer_form(call["schema"]).read(given)
    except WrongFields as error:
        if not HtmxRequest.read(request.headers):
            raise Unprocessable(str(error)) from error
        shown = found.render.part(call_ending(run, call, given, error.errors))
        return HTMLResponse(fill(f"#ending-{call['id']}", shown), status_code=422)
    return await _ordered(request, found, run, form, value)


async def _ordered(
    request: Request, found: Services, run: str, form: FormData, value: Any
) -> Response:
    order = {name: form[name] for name in ("command", "key") if name in form}
    call = whole_number(str(form.get("call")))
    body = parse(CallBody, {**order, "call": call, "actor": actor_of(form), "value": value})
    try:
        position = await found.runs.end_call(run, body.told())
    except Misused as refused:
        raise Unprocessable(f"this cannot be its answer: {refused}") from refused
    except CommandRefused as refused:
        raise Conflict(str(refused)) from refused
    return done(request, position["session"])


async def _call_of(found: Services, run: str, form: FormData) -> Mapping[str, Any]:
    """The call as it stands. Raises Conflict."""
    number = whole_number(str(form.get("call")))
    calls = (await found.runs.standing(run))["calls"]
    call = next((each for each in calls if each["id"] == number and each["schema"]), None)
    if call is None:
        raise Conflict("the call has ended meanwhile")
    return dict(call)


def _typed(form: FormData) -> Any:
    """What the text field says: JSON, or a text."""
    if form.get("command") != "answer":
        return None
    text = str(form.get("value") or "").strip()
    if not text:
        raise Unprocessable("write the answer first")
    return value_of("mock", text)
