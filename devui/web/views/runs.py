"""Runs: start one with a message, stop one, read what one printed."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from devui.debugger.commands import CommandRefused
from devui.debugger.driver import RunRequest
from devui.web.api.bodies import parse
from devui.web.api.debug import CommandBody
from devui.web.errors import Conflict, NotFound, Unprocessable
from devui.web.formats import clock
from devui.web.htmx import HtmxRequest
from devui.web.intake import read_form
from devui.web.links import session_url
from devui.web.services import services
from devui.web.views.lookup import session_of


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


async def command(request: Request) -> Response:
    """Tell a held run how to go on; where it then stands comes on the stream."""
    found, run = services(request), request.path_params["run"]
    form = await read_form(request)
    body = parse(CommandBody, {"actor": "page", **dict(form)})
    try:
        position = await found.runs.command(run, body.told())
    except CommandRefused as refused:
        raise Conflict(f"{refused}; the page shows where it stands now") from refused
    return _done(request, position["session"])


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
