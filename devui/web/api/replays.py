"""Executing a recorded run again over HTTP (docs/guide/api.md)."""

import json
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.bundles.exchange import Wish
from devui.debugger.guard.guard import Policy
from devui.debugger.keeping.cleaning import cleaned
from devui.debugger.recordings import NotRecorded
from devui.debugger.replays import ReplayRequest, recording_text
from devui.web.api.bodies import Strict, parse
from devui.web.api.bundles import exchange
from devui.web.api.debug import answer
from devui.web.errors import NotFound, Unprocessable
from devui.web.replaying import replays
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.web.views.lookup import session_of

_LIMIT = 100_000


class ReplayBody(Strict):
    """`POST /api/sessions/{key}/replays`."""

    run: str | None = None
    live_tools: bool = False
    guard: Policy = "ask"
    pause: bool = False
    note: str | None = Field(default=None, max_length=2000)
    actor: str = Field(default="api", max_length=100)


async def start(request: Request) -> Response:
    """Execute a run again in a fork, with the recorded answers; the replay, which has begun."""
    found, session = await session_of(request)
    body = parse(ReplayBody, await read_json(request, limit=_LIMIT))
    try:
        row = await replays(found).start(session, ReplayRequest(**body.model_dump()))
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    return answer(await _told(found, row.id), status=201)


async def runs(request: Request) -> Response:
    """The session's runs, the oldest first."""
    found, session = await session_of(request)
    return answer({"runs": await replays(found).runs(session)})


async def show(request: Request) -> Response:
    """What a replay executes again, and what came of it."""
    return answer(await _told(services(request), request.path_params["run"]))


async def _told(found: Services, run: str) -> dict[str, Any]:
    told = await replays(found).told(run)
    if told is None:
        raise NotFound(f"there is no replay {run!r}")
    return told


async def recording(request: Request) -> Response:
    """A run with all that is needed to execute it elsewhere: `?run=ID`, or the newest one."""
    found, session = await session_of(request)
    try:
        made = await replays(found).recording(session, request.query_params.get("run"))
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    redactor = await exchange(found).redactor_of(session.key, Wish())
    return answer(json.loads(recording_text(cleaned(made, redactor, lambda *_: None))))
