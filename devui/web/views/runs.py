"""Runs: start one with a message, stop one, read what one printed."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from devui.debugger.driver import RunRequest
from devui.web.errors import NotFound, Unprocessable
from devui.web.formats import clock
from devui.web.htmx import HtmxRequest
from devui.web.intake import read_form
from devui.web.links import session_url
from devui.web.services import services
from devui.web.views.lookup import session_of


async def start(request: Request) -> Response:
    """Send a message; everything that follows comes on the stream."""
    found, session = await session_of(request)
    form = await read_form(request)
    text = str(form.get("text") or "").strip()
    if not text:
        raise Unprocessable("write a message first")
    message = {"role": "user", "parts": [{"text": text}]}
    streaming = form.get("streaming") is not None
    await found.runs.start(session, RunRequest(message=message, streaming=streaming))
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(session_url(session.key), status_code=303)


async def stop(request: Request) -> Response:
    """Stop a run; one that has ended already is left as it is."""
    run = await services(request).runs.stop(request.path_params["run"])
    if HtmxRequest.read(request.headers):
        return Response(status_code=204)
    return RedirectResponse(session_url(run.session), status_code=303)


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
