"""Runs: start one with a message, stop one, read what one printed."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from devui.debugger.commands import CommandRefused
from devui.debugger.driver import RunRequest
from devui.debugger.summary import Summary
from devui.store.events import USER
from devui.store.rows import EventRow, SessionRow
from devui.web.api.bodies import parse
from devui.web.api.debug import CommandBody
from devui.web.changing import value_of
from devui.web.content import mapping, raw_parts
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.formats import clock
from devui.web.htmx import HtmxRequest
from devui.web.intake import parse_json, read_form
from devui.web.links import session_url
from devui.web.numbers import whole_number
from devui.web.questions import answer_of
from devui.web.services import Services, services
from devui.web.views.lookup import session_of

_LOOKED_AT = 500
"""Events at a time that are searched for an answer."""


async def start(request: Request) -> Response:
    """Send a message, or resume an invocation; everything that follows comes on the stream."""
    found, session = await session_of(request)
    form = await read_form(request)
    text = str(form.get("text") or "").strip()
    invocation = str(form.get("invocation") or "") or None
    if not text and invocation is None:
        raise Unprocessable("write a message first")
    wanted = RunRequest(
        message={"role": "user", "parts": [{"text": text}]} if text else None,
        invocation=invocation,
        streaming=form.get("streaming") is not None,
        pause=form.get("pause") is not None,
    )
    await found.runs.start(session, wanted)
    return _done(request, session.key)


async def answer(request: Request) -> Response:
    """Answer an agent's question, once (R31); its invocation goes on."""
    found, session = await session_of(request)
    form = await read_form(request)
    fields = {name: str(value) for name, value in form.multi_items()}
    call_id, number = fields.get("call", ""), whole_number(fields.get("event"))
    call, row = await _question(found, session, number or 0, call_id)
    response = answer_of(call["name"], mapping(call.get("args")), fields)
    part = {"functionResponse": {"id": call_id, "name": call["name"], "response": response}}
    message = {"role": "user", "parts": [part]}
    await found.runs.start(session, RunRequest(message=message, invocation=row.invocation_id))
    return _done(request, session.key)


async def _question(
    found: Services, session: SessionRow, number: int, call_id: str
) -> tuple[Mapping[str, Any], EventRow]:
    """The call that asks; raises NotFound, and Conflict when it has its answer."""
    body = await found.journal.events.body(session.key, number)
    parts = raw_parts(json.loads(body[1])) if body else []
    calls = [mapping(part.get("functionCall")) for part in parts]
    asked = next((call for call in calls if call.get("id") == call_id), None)
    if body is None or asked is None or not asked.get("name"):
        raise NotFound("there is no such question in this session")
    after = body[0].seq
    while rows := await found.journal.events.page(session.key, after=after, limit=_LOOKED_AT):
        for row in rows:
            answers = Summary.from_json(row.summary).responses if row.author == USER else ()
            if any(answer.id == call_id for answer in answers):
                raise Conflict(f"this was answered already, in #{row.number}")
        after = rows[-1].seq
    return asked, body[0]


async def command(request: Request) -> Response:
    """Tell a held run how to go on; where it then stands comes on the stream."""
    found, run = services(request), request.path_params["run"]
    form = await read_form(request)
    body = parse(CommandBody, _command(form))
    try:
        position = await found.runs.command(run, body.told())
    except CommandRefused as refused:
        raise Conflict(f"{refused}; the page shows where it stands now") from refused
    return _done(request, position["session"])


def _command(form: FormData) -> dict[str, Any]:
    """The members of a command; a button with `like` is the command `run_to`."""
    given: dict[str, Any] = {"actor": "page", **form}
    if "value" in given:
        given["value"] = value_of(str(given.get("command")), str(given["value"]))
    if "like" in given:
        given |= {"command": "run_to", "like": parse_json(str(given["like"]).encode())}
    return given


async def stop(request: Request) -> Response:
    """Stop a run; one that has ended already is left as it is."""
    run = await services(request).runs.stop(request.path_params["run"])
    return _done(request, run.session)


def _done(request: Request, session: int) -> Response:
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
