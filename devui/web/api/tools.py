"""The tools of an app over HTTP: what their calls do to the world."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.guard.effects import UNKNOWN, Said, ToolEffect
from devui.web.api.bodies import Strict, parse
from devui.web.api.debug import answer
from devui.web.security.intake import read_json
from devui.web.services import services
from devui.web.trying import known_tools, listed_tools, tools_of


class EffectBody(Strict):
    """`PUT /api/apps/{app}/tools/{tool}`."""

    effect: Said | None
    """None takes back what was said: then the code counts again."""
    actor: str = Field(default="api", max_length=100)


async def every(request: Request) -> Response:
    """The app's tools by name, with the agents that have them and what they declare, and the
    toolsets that do not list theirs; the app is loaded for that."""
    found, app = services(request), request.path_params["app"]
    listed = await listed_tools(found, app)
    known = await known_tools(found, app, listed["tools"])
    return answer({"tools": [_told(*each) for each in known], "silent": listed["silent"]})


async def say(request: Request) -> Response:
    """Say what a tool does; it comes before what its code says."""
    found, app = services(request), request.path_params["app"]
    found.apps.require(app)
    tool = request.path_params["tool"]
    body = parse(EffectBody, await read_json(request))
    declared = await tools_of(found, app)
    await found.journal.tool_effects.set(app, tool, body.effect, body.actor)
    known = {name: rest for name, *rest in await known_tools(found, app, declared)}
    return answer(_told(tool, *known.get(tool, ([], UNKNOWN))))


def _told(tool: str, declared: Sequence[Mapping[str, Any]], effect: ToolEffect) -> dict[str, Any]:
    """With what the first agent that has a tool of this name declares of it."""
    first = declared[0] if declared else {}
    return {
        "name": tool,
        "agents": [each["agent"] for each in declared],
        "description": first.get("description") or "",
        "schema": first.get("schema"),
        "effect": effect.effect,
        "source": effect.source,
        "by": effect.by or None,
    }
