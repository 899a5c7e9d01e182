"""Trials and the effects of tools as JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.guard.effects import UNKNOWN, Class, EffectChoice, Source, ToolEffect
from devui.debugger.workers.trials import TrialContext
from devui.store.runs.trials import TrialRow
from devui.web.adk.bodies import parse
from devui.web.adk.contents import Strict
from devui.web.errors import NotFound
from devui.web.json_answers import answer
from devui.web.lookup import event_of, session_of
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.runs.schemas import RecordedCallJson
from devui.web.panels.trials.actions import (
    ConfirmationRequired,
    known_tools,
    listed_tools,
    tools_of,
    try_model,
    try_tool,
)
from devui.web.security.intake import read_json
from devui.web.services import services_of
from devui.web.text.numbers import whole_number


class EffectBody(Strict):
    """`PUT /api/apps/{app}/tools/{tool}`."""

    effect: EffectChoice | None
    """Null removes the setting, so that the code's declaration applies again."""
    actor: str = Field(default="api", max_length=100)


class ToolJson(TypedDict):
    """A tool of an app. `source`: where its effects are declared; a person's setting takes
    precedence over the code."""

    name: str
    agents: list[str]
    effect: Class
    source: Source
    by: str | None
    """The person who set it."""
    description: str
    schema: dict[str, Any] | None
    """The declaration of its arguments."""


class SilentToolsetJson(TypedDict):
    """A toolset that didn't list its tools, and why."""

    agent: str
    toolset: str
    error: str


class ToolsJson(TypedDict):
    """The tools of an app."""

    tools: list[ToolJson]
    silent: list[SilentToolsetJson]
    """Toolsets that didn't list their tools, and why."""


@operation(ToolsJson, refusals=(Refusal(409, "The app failed to load"),))
async def tools(request: Request) -> Response:
    """List an app's tools and their side effects.

    See [effect classes](debugging.md#before-a-tool-runs-twice). Loads the app.
    """
    services, app = services_of(request), request.path_params["app"]
    listing = await listed_tools(services, app)
    entries = await known_tools(services, app, listing["tools"])
    return answer({"tools": [_tool_json(*each) for each in entries], "silent": listing["silent"]})


@operation(ToolJson, body=EffectBody)
async def set_effect(request: Request) -> Response:
    """Set a tool's side effects; null resets them."""
    services, app = services_of(request), request.path_params["app"]
    services.apps.require(app)
    tool = request.path_params["tool"]
    body = parse(EffectBody, await read_json(request))
    declarations = await tools_of(services, app)
    await services.journal.tool_effects.set(app, tool, body.effect, body.actor)
    by_name = {name: rest for name, *rest in await known_tools(services, app, declarations)}
    return answer(_tool_json(tool, *by_name.get(tool, ([], UNKNOWN))))


def _tool_json(
    tool: str, declarations: Sequence[Mapping[str, Any]], effect: ToolEffect
) -> ToolJson:
    """Return a tool as the first agent that has one of this name declares it."""
    first = declarations[0] if declarations else {}
    return {
        "name": tool,
        "agents": [each["agent"] for each in declarations],
        "description": first.get("description") or "",
        "schema": first.get("schema"),
        "effect": effect.effect,
        "source": effect.source,
        "by": effect.by or None,
    }


_LIMIT = 20_000_000
_USER = "user"


class ToolTrialBody(Strict):
    """`POST /api/apps/{app}/tools/{tool}/trials`."""

    args: dict[str, Any] = Field(default_factory=dict)
    agent: str | None = None
    """The agent whose tool it is; by default the first agent with a tool of this name."""
    session: int | None = None
    """The key of the session whose state is copied; by default the state is empty."""
    event: int | None = None
    """The event that the state is as of; by default now."""
    confirm: bool = False
    """Run it even if it may have side effects."""
    actor: str = Field(default="api", max_length=100)


class ModelTrialBody(Strict):
    """`POST /api/sessions/{key}/spans/{span}/trials`."""

    request: dict[str, Any]
    """`model`, `system`, `contents`, `tools` and `config`, as in the `sent` of the span."""
    actor: str = Field(default="api", max_length=100)


class TrialJson(TypedDict):
    """A call of a tool or model outside any run; it isn't part of any history."""

    id: int
    """0 for a trial that isn't stored."""
    kind: Literal["tool", "model"]
    session: int | None
    span: int | None
    event: int | None
    """The event that the state was as of."""
    agent: str
    name: str
    sent: dict[str, Any]
    result: Any
    """A tool's `result` and `actions`, or a model's responses; null after an error."""
    error: dict[str, Any] | None
    seconds: float
    actor: str
    at: float


class TrialsJson(TypedDict):
    """Trials, the newest 50, newest first."""

    trials: list[TrialJson]


class ConfirmationRequiredJson(TypedDict):
    """The tool may have side effects."""

    detail: str
    effect: NotRequired[Class]
    source: NotRequired[Source]
    recorded: NotRequired[RecordedCallJson | None]


@operation(
    TrialJson,
    status=201,
    body=ToolTrialBody,
    refusals=(
        Refusal(409, "Not confirmed with `confirm`, or no answer", ConfirmationRequiredJson),
    ),
)
async def tool(request: Request) -> Response:
    """Run a tool on its own, with a copy of the state.

    [Runs a tool alone](debugging.md#one-call-by-itself) on the state of a session, now or as of an
    event. A tool that may have effects runs only with `confirm`.
    """
    services, app = services_of(request), request.path_params["app"]
    body = parse(ToolTrialBody, await read_json(request, limit=_LIMIT, allow_runtime_json=True))
    services.apps.require(app)
    session = None
    if body.session is not None:
        session = await services.journal.sessions.get(body.session)
        if session is None or session.app != app:
            raise NotFound(f"{app} has no session {body.session}")
        await event_of(services, session, str(body.event) if body.event else None)
    try:
        row = await try_tool(
            services,
            TrialContext(app=app, session=session, event=body.event, user=_USER),
            agent=body.agent,
            tool=request.path_params["tool"],
            args=body.args,
            confirm=body.confirm,
            actor=body.actor,
        )
    except ConfirmationRequired as unsure:
        return answer(_unsure(unsure), status=409)
    return answer(trial_json(row), status=201)


@operation(TrialJson, status=201, body=ModelTrialBody, refusals=(Refusal(409, "No answer"),))
async def model(request: Request) -> Response:
    """Repeat a recorded model call with an edited request.

    `request` is an edited copy of the `sent` of its span.
    """
    services, session = await session_of(request)
    number = whole_number(request.path_params["span"])
    span = await services.journal.spans.get(session.key, number) if number is not None else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {request.path_params['span']}")
    body = parse(ModelTrialBody, await read_json(request, limit=_LIMIT, allow_runtime_json=True))
    row = await try_model(services, session, span, body.request, actor=body.actor)
    return answer(trial_json(row), status=201)


@operation(TrialsJson, query={"span": Query(int, "Only those of this model call")})
async def every(request: Request) -> Response:
    """List a session's trials, newest first."""
    services, session = await session_of(request)
    span = whole_number(request.query_params.get("span"))
    rows = await services.journal.trials.list(session.key, span=span)
    return answer({"trials": [trial_json(row) for row in rows]})


def trial_json(row: TrialRow) -> TrialJson:
    """Return a trial as JSON; a tool's `result` is `{"result", "actions"}`, a model's a list."""
    return {
        "id": row.id,
        "kind": "tool" if row.span is None else "model",
        "session": row.session,
        "span": row.span,
        "event": row.event,
        "agent": row.agent,
        "name": row.name,
        "sent": json.loads(row.sent),
        "result": _parse(row.result),
        "error": _parse(row.error),
        "seconds": row.seconds,
        "actor": row.actor,
        "at": row.at,
    }


def _parse(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=str)


def _unsure(unsure: ConfirmationRequired) -> ConfirmationRequiredJson:
    offer = unsure.offer
    recorded: RecordedCallJson | None = None
    if offer is not None:
        recorded = {
            "session": offer.session,
            "number": offer.number,
            "args": dict(offer.args),
            "result": dict(offer.result),
        }
    return {
        "detail": str(unsure),
        "effect": unsure.effect.effect,
        "source": unsure.effect.source,
        "recorded": recorded,
    }
