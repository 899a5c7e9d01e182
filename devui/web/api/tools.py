"""The tools of an app over HTTP: what their calls do to the world."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.guard.effects import UNKNOWN, Said, ToolEffect, tool_effects
from devui.debugger.workers import AppBroken
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer
from devui.web.errors import Conflict
from devui.web.security.intake import read_json
from devui.web.services import Services, services
from devui.wire.messages import AgentInfo


class EffectBody(Strict):
    """`PUT /api/apps/{app}/tools/{tool}`."""

    effect: Said | None
    """None takes back what was said: then the code counts again."""
    actor: str = Field(default="api", max_length=100)


async def every(request: Request) -> Response:
    """The app's tools by name, with the agents that have them; the app is loaded for that."""
    found, app = _app(request)
    agents = await _agents(found, app)
    effects = await tool_effects(found.journal, app, agents)
    owners: dict[str, list[str]] = {tool: [] for tool in effects}
    for agent in agents:
        for tool in agent.tools:
            owners[tool].append(agent.name)
    return answer([_told(tool, owners[tool], effects) for tool in sorted(owners)])


async def say(request: Request) -> Response:
    """Say what a tool does; it comes before what its code says."""
    found, app = _app(request)
    tool = request.path_params["tool"]
    body = parse(EffectBody, await read_json(request))
    await found.journal.tool_effects.set(app, tool, body.effect, body.actor)
    info = found.workers.status(app).info
    agents = info.agents if info else []
    effects = await tool_effects(found.journal, app, agents)
    owners = [agent.name for agent in agents if tool in agent.tools]
    return answer(_told(tool, owners, effects))


def _told(tool: str, owners: list[str], effects: Mapping[str, ToolEffect]) -> dict[str, Any]:
    effect = effects.get(tool, UNKNOWN)
    return {"name": tool, "agents": owners, "effect": effect.effect, "source": effect.source}


def _app(request: Request) -> tuple[Services, str]:
    found = services(request)
    app = request.path_params["app"]
    found.apps.require(app)
    return found, app


async def _agents(found: Services, app: str) -> list[AgentInfo]:
    try:
        worker = await found.workers.worker(app)
    except AppBroken as error:
        raise Conflict(f"{app} does not load: {error}") from error
    return worker.loaded.result().agents
