"""Calls that are under way: end one, or answer in its place."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.stepping.commands import CommandRefused, Misused
from devui.web.actor import actor_of
from devui.web.api.bodies import parse
from devui.web.api.debug import CallBody
from devui.web.errors import Conflict, Unprocessable
from devui.web.presenters.changing import value_of
from devui.web.presenters.schemaforms import WrongFields
from devui.web.presenters.standing import answer_form, answer_slot, typed_answer, typed_slot
from devui.web.refilled import refilled
from devui.web.security.intake import read_form
from devui.web.services import Services, services
from devui.web.text.numbers import whole_number
from devui.web.views.runs import done


async def end(request: Request) -> Response:
    """Carry the order out; an answer that cannot be one is told at its field."""
    found, run = services(request), request.path_params["run"]
    form = await read_form(request)
    if "filled" in form:
        return await _filled_in(request, found, run, form)
    try:
        return await _ordered(request, found, run, form, _typed(form))
    except WrongFields as wrong:
        call = await _call_of(found, run, form)
        slot, fields = typed_slot(call["id"]), (typed_answer(call),)
        return refilled(request, found.render, slot, fields, given=_given(form), wrong=wrong)


async def _filled_in(request: Request, found: Services, run: str, form: FormData) -> Response:
    """Answer with what the fields say that the tool declares."""
    call = await _call_of(found, run, form)
    declared = answer_form(call["schema"] or "{}")
    try:
        value = declared.read(_given(form))
    except WrongFields as wrong:
        slot, fields = answer_slot(call["id"]), declared.fields()
        return refilled(request, found.render, slot, fields, given=_given(form), wrong=wrong)
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
        raise _misused(form, f"this cannot be its answer: {refused}") from refused
    except CommandRefused as refused:
        raise Conflict(str(refused)) from refused
    return done(request, position["session"])


def _misused(form: FormData, problem: str) -> Exception:
    """At the field for any answer, if it came from there."""
    return WrongFields({"value": problem}) if "value" in form else Unprocessable(problem)


def _given(form: FormData) -> dict[str, str]:
    return {name: str(value) for name, value in form.items()}


async def _call_of(found: Services, run: str, form: FormData) -> Mapping[str, Any]:
    """The call as it stands. Raises Conflict."""
    number = whole_number(str(form.get("call")))
    calls = (await found.runs.standing(run))["calls"]
    call = next((each for each in calls if each["id"] == number), None)
    if call is None:
        raise Conflict("the call has ended meanwhile")
    return dict(call)


def _typed(form: FormData) -> Any:
    """What the text field says: JSON, or a text. Raises WrongFields."""
    if form.get("command") != "answer":
        return None
    text = str(form.get("value") or "").strip()
    if not text:
        raise WrongFields({"value": "write the answer first"})
    return value_of("mock", text)
