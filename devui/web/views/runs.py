"""Runs: start one with a message, stop one, read what one printed."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from devui.debugger.answering import open_until
from devui.debugger.recovery.answers import Settled, Undecided, opening
from devui.debugger.runrequest import RunRequest
from devui.debugger.stepping.commands import CommandRefused, Unchanged
from devui.debugger.stepping.stepper import Hold
from devui.store.errors import Overtaken, RunActive
from devui.store.rows import EventRow, SessionRow
from devui.web.actor import actor_of
from devui.web.api.bodies import parse
from devui.web.api.debug import CommandBody
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.htmx import HtmxRequest
from devui.web.links import session_url
from devui.web.presenters.changing import json_field, json_slot, value_of
from devui.web.presenters.chat import ask_slot
from devui.web.presenters.content import mapping, raw_parts
from devui.web.presenters.heldforms import held_form, held_slot
from devui.web.presenters.questions import answer_of, form_of
from devui.web.presenters.schemaforms import WrongFields
from devui.web.recovery import first_guard, settled
from devui.web.refilled import refilled
from devui.web.security.intake import parse_json, read_form
from devui.web.services import Services, services
from devui.web.text.formats import clock
from devui.web.text.numbers import whole_number
from devui.web.unmasked import unmasked_hold
from devui.web.views.lookup import session_of
from devui.web.views.recovery import asked_again, call_answers

_SECONDS_TO_ASK = 10
"""How long an answer waits for the end of the run: a question is seen before that."""
_STILL_ASKING = (
    "the run that asks goes on: let it come to its end, or stop it, and then answer;"
    " the form keeps what is in it"
)

_HELD_NO_LONGER = "this is held no longer; the page shows where the run stands now"


async def start(request: Request) -> Response:
    """Send a message, or resume an invocation; everything that follows comes on the stream."""
    found, session = await session_of(request)
    form = await read_form(request)
    text = str(form.get("text") or "").strip()
    invocation = str(form.get("invocation") or "") or None
    if not text and invocation is None:
        raise Unprocessable("write a message first")
    decided: tuple[Settled, ...] = ()
    if not text and invocation is not None:
        try:
            decided = await settled(
                found, session, invocation, call_answers(form), actor=actor_of(form)
            )
        except WrongFields as wrong:
            return asked_again(request, form, wrong)
        except Undecided as error:
            raise Conflict(str(error)) from error
    wanted = RunRequest(
        opening=opening(decided),
        message={"role": "user", "parts": [{"text": text}]} if text else None,
        invocation=invocation,
        streaming=form.get("streaming") is not None,
        pause=form.get("pause") is not None,
        actor=actor_of(form),
        guard=await first_guard(found, session, invocation=invocation, settled=decided),
    )
    await found.runs.start(session, wanted)
    return done(request, session.key)


async def answer(request: Request) -> Response:
    """Answer an agent's question, once (R31); its invocation goes on."""
    found, session = await session_of(request)
    form = await read_form(request)
    fields = {name: str(value) for name, value in form.multi_items()}
    call_id, number = fields.get("call", ""), whole_number(fields.get("event"))
    call, row = await _question(found, session, number or 0, call_id)
    name, args = call["name"], mapping(call.get("args"))
    try:
        response = answer_of(name, args, fields)
    except WrongFields as wrong:
        asked = form_of(name, args, row.author).fields
        return refilled(request, found.render, ask_slot(call_id), asked, given=fields, wrong=wrong)
    part = {"functionResponse": {"id": call_id, "name": name, "response": response}}
    message = {"role": "user", "parts": [part]}
    wanted = RunRequest(message=message, invocation=row.invocation_id, actor=actor_of(form))
    seen = row.seq
    while True:
        seen = await open_until(found.journal, session.key, call_id, seen)
        await found.runs.over(session.key, within=_SECONDS_TO_ASK)
        try:
            await found.runs.start(session, replace(wanted, seen=seen))
        except Overtaken:
            continue  # what the user has said meanwhile may be the answer
        except RunActive as error:
            raise Conflict(_STILL_ASKING) from error
        return done(request, session.key)


async def _question(
    found: Services, session: SessionRow, number: int, call_id: str
) -> tuple[Mapping[str, Any], EventRow]:
    """The call that asks, and its event; raises NotFound."""
    body = await found.journal.events.body(session.key, number)
    parts = raw_parts(json.loads(body[1])) if body else []
    calls = [mapping(part.get("functionCall")) for part in parts]
    asked = next((call for call in calls if call.get("id") == call_id), None)
    if body is None or asked is None or not asked.get("name"):
        raise NotFound("there is no such question in this session")
    return asked, body[0]


async def command(request: Request) -> Response:
    """Tell a held run how to go on; where it then stands comes on the stream."""
    found, run = services(request), request.path_params["run"]
    form = await read_form(request)
    if "filled" in form:
        return await _filled_in(request, found, run, form)
    try:
        return await _ordered(request, found, run, _command(form))
    except WrongFields as wrong:
        hold = _held(found, run, form)
        field, given = json_field(hold, ""), {"value": str(form.get("value"))}
        return refilled(request, found.render, json_slot(hold), (field,), given=given, wrong=wrong)


async def _ordered(
    request: Request, found: Services, run: str, order: dict[str, Any], field: str = "value"
) -> Response:
    """Carry it out; raises WrongFields at `field` where its value is what is held already."""
    body = parse(CommandBody, order)
    if body.value is not None:
        body.value = await unmasked_hold(found, run, body.value)
    try:
        position = await found.runs.command(run, body.told())
    except Unchanged as refused:
        raise WrongFields({field: str(refused)}) from refused
    except CommandRefused as refused:
        raise Conflict(f"{refused}; the page shows where it stands now") from refused
    return done(request, position["session"])


def _held(found: Services, run: str, form: FormData) -> Hold:
    """What the form is about. Raises Conflict."""
    live = found.runs.under_way(run)
    holds = live.stepper.holds if live else ()
    hold = next((hold for hold in holds if str(hold.id) == form.get("hold")), None)
    if hold is None:
        raise Conflict(_HELD_NO_LONGER)
    return hold


async def _filled_in(request: Request, found: Services, run: str, form: FormData) -> Response:
    """Edit what is held as its form says; what does not fit is told at its field."""
    given = {name: str(value).replace("\r\n", "\n") for name, value in form.items()}
    hold = _held(found, run, form)
    filled = held_form(hold)
    if filled is None:
        raise Conflict(_HELD_NO_LONGER)
    fields, names = filled.fields(), ("key", "position", "hold", "command")
    order = {name: given[name] for name in names if name in given}
    try:
        order |= {"actor": actor_of(form), "value": filled.read(given)}
        return await _ordered(request, found, run, order, field=fields[0].name)
    except WrongFields as wrong:
        slot = held_slot(hold)
        return refilled(request, found.render, slot, fields, given=given, wrong=wrong)


def _command(form: FormData) -> dict[str, Any]:
    """The members of a command; a button with `like` is the command `run_to`."""
    given: dict[str, Any] = {**form, "actor": actor_of(form)}
    reason = given.pop("reason", "")
    if given.get("command") == "reject":
        given["value"] = reason
    elif "value" in given:
        given["value"] = value_of(str(given.get("command")), str(given["value"]))
    if "like" in given:
        given |= {"command": "run_to", "like": parse_json(str(given["like"]).encode())}
    return given


async def stop(request: Request) -> Response:
    """Stop a run; one that has ended already is left as it is."""
    form = await read_form(request)
    run = await services(request).runs.stop(request.path_params["run"], actor_of(form))
    return done(request, run.session)


def done(request: Request, session: int) -> Response:
    """The answer to a post of a page: the rest comes on the stream."""
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(session_url(session), status_code=303)


async def log(request: Request) -> Response:
    """Everything the run printed and logged, as text."""
    found = services(request)
    name = request.path_params["run"]
    run = await found.journal.runs.get(name)
    if run is None:
        raise NotFound("there is no such run")
    lines = await found.journal.runs.output(name)
    text = "".join(f"{clock(line.at)} {line.stream:<8} {line.text}\n" for _, line in lines)
    return PlainTextResponse(text)
