"""What pages and programs alike do to try one call by itself: of a tool, or of a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from devui.debugger.guard.effects import UNKNOWN, ToolEffect, tool_effects
from devui.debugger.guard.recorded import RecordedCall, recorded_calls
from devui.debugger.workers.trials import Ground, TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.store.rows import SessionRow, SpanRow
from devui.store.runs.trials import TrialRow
from devui.web.errors import Conflict, EdgeError, NotFound
from devui.web.services import Services


class Unsure(EdgeError):
    """The tool may change the world, and nobody has said that it shall run."""

    status = 409

    def __init__(self, tool: str, effect: ToolEffect, offer: RecordedCall | None) -> None:
        what = "has side effects" if effect.effect == "effects" else "may have side effects"
        super().__init__(f"{tool} {what}: set `sure` to run it")
        self.effect = effect
        self.offer = offer


async def tools_of(services: Services, app: str) -> list[dict[str, Any]]:
    """What the tools of an app's agents declare; raises Conflict for an app that does not load."""
    return (await listed_tools(services, app))["tools"]


async def listed_tools(services: Services, app: str) -> dict[str, list[dict[str, Any]]]:
    """The same as `tools`, and as `silent` the toolsets that do not list theirs."""
    services.apps.require(app)
    try:
        return await services.runs.trials.tools(app)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(f"the tools of {app} can't be listed: {error}") from error


async def try_tool(
    services: Services,
    ground: Ground,
    *,
    agent: str | None,
    tool: str,
    args: Mapping[str, Any],
    sure: bool,
    actor: str,
) -> TrialRow:
    """Run it; raises NotFound for an unknown tool, Unsure, and Conflict when there is no answer."""
    declarations = [each for each in await tools_of(services, ground.app) if each["name"] == tool]
    owner = next((each for each in declarations if agent in {None, each["agent"]}), None)
    if owner is None:
        raise NotFound(f"{ground.app} has no tool {tool!r}{f' of {agent}' if agent else ''}")
    marks = [(each["name"], each["effect"]) for each in declarations]
    effects = await tool_effects(services.journal, ground.app, marks)
    effect = effects.get(tool, UNKNOWN)
    if not sure and not effect.is_safe:
        raise Unsure(tool, effect, await _offer(services, ground.session, tool, args))
    try:
        return await services.runs.trials.tool(
            ground, agent=owner["agent"], tool=tool, args=args, actor=actor
        )
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error


async def _offer(
    services: Services, session: SessionRow | None, tool: str, args: Mapping[str, Any]
) -> RecordedCall | None:
    """What the tool returned in the session for these arguments."""
    calls = await recorded_calls(services.journal, session.key) if session else ()
    return next((call for call in calls if call.tool == tool and call.args == args), None)


async def try_model(
    services: Services,
    session: SessionRow,
    span: SpanRow,
    request: Mapping[str, Any],
    *,
    actor: str,
) -> TrialRow:
    """Ask the model; raises Conflict when there is no answer."""
    try:
        return await services.runs.trials.model(session, span, request, actor)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error


async def known_tools(
    services: Services, app: str, declarations: Sequence[Mapping[str, Any]]
) -> list[tuple[str, list[Mapping[str, Any]], ToolEffect]]:
    """Tools by name, with what each agent declares of them, and what they do to the world; also
    those of which a person has said it and that the app does not have now."""
    effects = await tool_effects(
        services.journal, app, [(each["name"], each["effect"]) for each in declarations]
    )
    return [
        (name, [each for each in declarations if each["name"] == name], effects[name])
        for name in sorted(effects)
    ]
