"""What ADK's clients ask first: the apps, the version, the health (adk-web 1.2)."""

import platform
import sqlite3

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui import __version__
from devui.web.services import services


async def list_apps(request: Request) -> Response:
    """The names of the apps, or `?detailed=true` what is known of each."""
    found = services(request)
    names = found.apps.names()
    if request.query_params.get("detailed") != "true":
        return JSONResponse(names)
    told = []
    for name in names:
        info = found.workers.status(name).info
        told.append(
            {
                "name": name,
                "rootAgentName": info.agents[0].name if info else "",
                "description": info.description if info else "",
                "language": "python",
            }
        )
    return JSONResponse({"apps": told})


async def version(_: Request) -> Response:
    """The version of this server, and of what it runs on."""
    return JSONResponse(
        {
            "version": __version__,
            "language": "python",
            "language_version": platform.python_version(),
            "sqlite_version": sqlite3.sqlite_version,
        }
    )


async def health(_: Request) -> Response:
    """Whether the server answers."""
    return JSONResponse({"status": "ok"})
