"""Trials of a tool or a model, shared by the pages and the API."""

from collections.abc import Mapping, Sequence
from typing import Any

from devui.debugger.guard.effects import UNKNOWN, ToolEffect, tool_effects
from devui.debugger.guard.recorded_calls import RecordedCall, recorded_calls
from devui.debugger.workers.trials import TrialContext, TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.store.rows import SessionRow, SpanRow
from devui.store.runs.trials import TrialRow
from devui.web.errors import Conflict, EdgeError, NotFound
from devui.web.services import Services


class ConfirmationRequired(EdgeError):
    """The tool may have side effects, and the caller didn't set `confirm`."""

    status = 409

    def __init__(self, tool: str, effect: ToolEffect, offer: RecordedCall | None) -> None:
        what = "has side effects" if effect.effect == "effects" else "may have side effects"
        super().__init__(f"{tool} {what}: set `confirm` to run it")
        self.effect = effect
        self.offer = offer


async def tools_of(services: Services, app: str) -> list[dict[str, Any]]:
    """Return the declared tools of an app's agents; raises Conflict if the app doesn't load."""
    return (await listed_tools(services, app))["tools"]


async def listed_tools(services: Services, app: str) -> dict[str, list[dict[str, Any]]]:
    """Return the same as `tools`, and as `silent` the toolsets that didn't list their tools."""
    services.apps.require(app)
    try:
        return await services.runs.trials.tools(app)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(f"the tools of {app} can't be listed: {error}") from error


async def try_tool(
    services: Services,
    context: TrialContext,
    *,
    agent: str | None,
    tool: str,
    args: Mapping[str, Any],
    confirm: bool,
    actor: str,
) -> TrialRow:
    """Run the tool; raises NotFound, ConfirmationRequired, or Conflict without a result."""
    declarations = [each for each in await tools_of(services, context.app) if each["name"] == tool]
    owner = next((each for each in declarations if agent in {None, each["agent"]}), None)
    if owner is None:
        raise NotFound(f"{context.app} has no tool {tool!r}{f' of {agent}' if agent else ''}")
    marks = [(each["name"], each["effect"]) for each in declarations]
    effects = await tool_effects(services.journal, context.app, marks)
    effect = effects.get(tool, UNKNOWN)
    if not confirm and not effect.is_safe:
        raise ConfirmationRequired(
            tool, effect, await _offer(services, context.session, tool, args)
        )
    try:
        return await services.runs.trials.tool(
            context, agent=owner["agent"], tool=tool, args=args, actor=actor
        )
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error


async def _offer(
    services: Services, session: SessionRow | None, tool: str, args: Mapping[str, Any]
) -> RecordedCall | None:
    """Return what the tool returned in the session for these arguments."""
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
    """Call the model; raises Conflict if there is no answer."""
    try:
        return await services.runs.trials.model(session, span, request, actor)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error


async def known_tools(
    services: Services, app: str, declarations: Sequence[Mapping[str, Any]]
) -> list[tuple[str, list[Mapping[str, Any]], ToolEffect]]:
    """Return tools by name, with each agent's declaration and the effects, including tools that a
    person has classified but the app doesn't have at the moment."""
    effects = await tool_effects(
        services.journal, app, [(each["name"], each["effect"]) for each in declarations]
    )
    return [
        (name, [each for each in declarations if each["name"] == name], effects[name])
        for name in sorted(effects)
    ]
