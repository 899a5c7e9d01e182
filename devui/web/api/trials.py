"""One call by itself over HTTP: of a tool over a copy of the state, or of a model once more."""

import json
from typing import Any

from pydantic import Field, JsonValue
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.trials import Ground
from devui.store.trials import TrialRow
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer
from devui.web.errors import NotFound
from devui.web.security.intake import read_json
from devui.web.services import services
from devui.web.text.numbers import whole_number
from devui.web.trying import Unsure, try_model, try_tool
from devui.web.views.lookup import event_of, session_of

_LIMIT = 20_000_000
_USER = "user"


class ToolTrialBody(Strict):
    """`POST /api/apps/{app}/tools/{tool}/trials`."""

    args: dict[str, JsonValue] = Field(default_factory=dict)
    agent: str | None = None
    """Whose tool; the first that has one of this name, if not said."""
    session: int | None = None
    """The key of the session whose state is copied; none: an empty state."""
    event: int | None = None
    """As of which event; now, if not said."""
    sure: bool = False
    """It may change the world, and is to run all the same."""
    actor: str = Field(default="api", max_length=100)


class ModelTrialBody(Strict):
    """`POST /api/sessions/{key}/spans/{span}/trials`."""

    request: dict[str, JsonValue]
    """`model`, `system`, `contents`, `tools` and `config`, as the span tells them as `sent`."""
    actor: str = Field(default="api", max_length=100)


async def tool(request: Request) -> Response:
    """Run a tool by itself; nothing that it writes is kept but the trial."""
    found, app = services(request), request.path_params["app"]
    body = parse(ToolTrialBody, await read_json(request, limit=_LIMIT))
    found.apps.require(app)
    session = None
    if body.session is not None:
        session = await found.journal.sessions.get(body.session)
        if session is None or session.app != app:
            raise NotFound(f"{app} has no session {body.session}")
        await event_of(found, session, str(body.event) if body.event else None)
    try:
        row = await try_tool(
            found,
            Ground(app=app, session=session, event=body.event, user=_USER),
            agent=body.agent,
            tool=request.path_params["tool"],
            args=body.args,
            sure=body.sure,
            actor=body.actor,
        )
    except Unsure as unsure:
        return answer(_unsure(unsure), status=409)
    return answer(told(row), status=201)


async def model(request: Request) -> Response:
    """Ask the model of a recorded call with another request."""
    found, session = await session_of(request)
    wanted = whole_number(request.path_params["span"])
    span = await found.journal.spans.get(session.key, wanted) if wanted is not None else None
    if span is None or span.type != "model":
        raise NotFound(f"session {session.key} has no model call {request.path_params['span']}")
    body = parse(ModelTrialBody, await read_json(request, limit=_LIMIT))
    row = await try_model(found, session, span, body.request, actor=body.actor)
    return answer(told(row), status=201)


async def every(request: Request) -> Response:
    """The session's trials, the newest first; of one model call with `?span=`."""
    found, session = await session_of(request)
    span = whole_number(request.query_params.get("span"))
    rows = await found.journal.trials.list(session.key, span=span)
    return answer({"trials": [told(row) for row in rows]})


def told(row: TrialRow) -> dict[str, Any]:
    """A trial; `result` is `{"result", "actions"}` of a tool, a list of responses of a model."""
    return {
        "id": row.id,
        "kind": "tool" if row.span is None else "model",
        "session": row.session,
        "span": row.span,
        "event": row.event,
        "agent": row.agent,
        "name": row.name,
        "sent": json.loads(row.sent),
        "result": _parsed(row.result),
        "error": _parsed(row.error),
        "seconds": row.seconds,
        "actor": row.actor,
        "at": row.at,
    }


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=str)


def _unsure(unsure: Unsure) -> dict[str, Any]:
    offer = unsure.offer
    recorded = None
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
