"""The first requests of ADK's clients: apps, version and health (adk-web 1.2)."""

import platform
import sqlite3
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui import __version__
from devui.debugger.workers.trials import TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.web.adk.answers import AdkAppInfoJson, AdkAppsJson, AdkHealthJson, AdkVersionJson
from devui.web.errors import BadRequest, Conflict
from devui.web.operation import Query, Refusal, operation
from devui.web.services import Services, services_of


@operation(
    list[str] | AdkAppsJson,
    query={"detailed": Query(bool, "`true` adds each app's root agent and description")},
)
async def list_apps(request: Request) -> Response:
    """List app names, or their details."""
    services = services_of(request)
    names = services.apps.names()
    if request.query_params.get("detailed") != "true":
        return JSONResponse(names)
    return JSONResponse({"apps": [details async for details in _details_of(services, names)]})


async def _details_of(services: Services, names: Iterable[str]) -> AsyncIterator[dict[str, Any]]:
    """Yield the details of the apps; those that fail to load are left out, as in ADK."""
    for name in names:
        with suppress(AppBroken):
            await services.workers.worker(name)
        info = services.workers.status(name).info
        if info is not None:
            yield {
                "name": name,
                "rootAgentName": info.agents[0].name,
                "description": info.description,
                "language": "python",
                "isComputerUse": False,
                "agents": None,
            }


@operation(
    AdkAppInfoJson,
    refusals=(
        Refusal(400, "The app's root is no LlmAgent"),
        Refusal(409, "The app can't be loaded"),
    ),
)
async def app_info(request: Request) -> Response:
    """Get an app's agents with their instructions and tool declarations.

    The agents are listed by name, with `instruction`, `tools` (as declared to models) and
    `sub_agents`; 400 if the root isn't an LlmAgent.
    """
    services, name = services_of(request), request.path_params["app"]
    try:
        agents = await services.runs.trials.app(name)
    except (AppBroken, TrialFailed) as error:
        raise Conflict(str(error)) from error
    if agents is None:
        raise BadRequest("Root agent is not an LlmAgent")
    root = list(agents.values())[-1]
    return JSONResponse(
        {
            "name": name,
            "rootAgentName": root["name"],
            "description": root["description"],
            "language": "python",
            "isComputerUse": False,
            "agents": agents,
        }
    )


@operation(AdkVersionJson)
async def version(_: Request) -> Response:
    """Get the versions of devui, Python, and the journal's SQLite (`sqlite_version`)."""
    return JSONResponse(
        {
            "version": __version__,
            "language": "python",
            "language_version": platform.python_version(),
            "sqlite_version": sqlite3.sqlite_version,
        }
    )


@operation(AdkHealthJson)
async def health(_: Request) -> Response:
    """Check that the server is up; the status is `ok`."""
    return JSONResponse({"status": "ok"})
