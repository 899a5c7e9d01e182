"""Replaying a recorded run over HTTP (docs/guide/api.md)."""

import json
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.bundles.exchange import ExportOptions
from devui.debugger.guard.guard import Policy
from devui.debugger.replays.recordings import NotRecorded
from devui.debugger.replays.replays import ReplayRequest, recording_text
from devui.debugger.saved_tests.cleaning import cleaned
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import NotFound, Unprocessable
from devui.web.json_answers import answer, large_answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.bundles.api import exchange
from devui.web.panels.jobs.api import wanted_id
from devui.web.panels.replays.panel import replays
from devui.web.panels.replays.verdict_json import ReplayVerdictJson
from devui.web.panels.settings.reading import SettingsJson
from devui.web.security.intake import read_json
from devui.web.services import Services, services_of
from devui.wire.engines import ReplayEngine

_LIMIT = 100_000


class ReplayBody(Strict):
    """`POST /api/sessions/{key}/replays`."""

    run: str | None = None
    """The run's id; by default the newest one."""
    live_tools: bool = False
    """Call tools instead of answering from the recording."""
    guard: Policy = "ask"
    pause: bool = False
    """Start held."""
    breakpoints: bool = True
    """Stop at breakpoints."""
    engine: ReplayEngine | None = None
    note: str | None = Field(default=None, max_length=2000)
    actor: str = Field(default="api", max_length=100)


class ReplayJson(TypedDict):
    """A replay and its outcome."""

    run: str
    session: int | None
    source: str
    """The run that it replays."""
    sourceSession: int | None
    liveTools: bool
    verdict: ReplayVerdictJson | None
    """Null until the replay ends."""


class RunJson(TypedDict):
    """A run of a session; `first` and `last` are the numbers of its events."""

    run: str
    status: str
    invocationId: str | None
    first: int | None
    last: int | None
    rewind: bool
    started: float
    ended: float | None
    error: dict[str, Any] | None
    settings: SettingsJson | None
    """The settings of its model calls; null for the agents' own."""
    replay: ReplayJson | None
    """Null if the run isn't a replay."""


class RunsJson(TypedDict):
    """The runs of a session, oldest first."""

    runs: list[RunJson]


RecordingJson = Annotated[
    dict[str, Any], Field(description="A run as stored in a file (docs/decisions/0012).")
]


@operation(ReplayJson, status=201, body=ReplayBody)
async def start(request: Request) -> Response:
    """Replay a run in a fork, with recorded model and tool answers.

    Uses the app's engine, or `google-adk`, `devui` or the `other` one, which continues after
    differences. The guide explains
    [replaying](#replaying).
    """
    services, session = await session_of(request)
    body = parse(ReplayBody, await read_json(request, limit=_LIMIT))
    replay_request, name = ReplayRequest(**body.model_dump()), session.title or session.id
    try:
        with services.jobs.begin(
            "replay", name, session=session.key, job_id=wanted_id(request)
        ) as job:
            row = await replays(services).start(session, replay_request, job)
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    return answer(await _replay_json(services, row.id), status=201)


@operation(RunsJson)
async def runs(request: Request) -> Response:
    """List a session's runs, oldest first."""
    services, session = await session_of(request)
    return answer({"runs": await replays(services).runs(session)})


@operation(ReplayJson)
async def show(request: Request) -> Response:
    """Get a replay's source and result."""
    return answer(await _replay_json(services_of(request), request.path_params["run"]))


async def _replay_json(services: Services, run: str) -> dict[str, Any]:
    replay = await replays(services).as_json(run)
    if replay is None:
        raise NotFound(f"there is no replay {run!r}")
    return replay


@operation(
    RecordingJson,
    query={"run": Query(str, "The run's id; by default the newest one")},
)
async def recording(request: Request) -> Response:
    """Export a run as a recording that can be replayed elsewhere.

    It has everything needed to execute the run without this server and, like an export, no
    secrets.
    """
    services, session = await session_of(request)
    try:
        recorded_run = await replays(services).recording(session, request.query_params.get("run"))
    except NotRecorded as error:
        raise Unprocessable(str(error)) from error
    redactor = await exchange(services).redactor_of(session.key, ExportOptions())
    return await large_answer(
        lambda: json.loads(recording_text(cleaned(recorded_run, redactor, lambda *_: None)))
    )
