"""The files in an app's folder that `adk web` serves: YAML and recorded tests (adk-web 1.7)."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response

from devui.web.errors import BadRequest, NotFound
from devui.web.operation import Query, operation
from devui.web.services import services_of

_LONGEST: Final = 200
"""The maximum length of a file name, in characters."""
_YAML: Final = frozenset({".yaml", ".yml"})


@operation(
    str,
    media="application/x-yaml",
    query={
        "file_path": Query(str, "Another YAML file of the app"),
        "tmp": Query(bool, "`true` for a draft, of which devui has none"),
    },
)
async def yaml(request: Request) -> Response:
    """Get the agent as YAML, from `root_agent.yaml` or another file in its folder.

    Empty if there is no such file.
    """
    folder = services_of(request).apps.require(request.path_params["app"]).resolve()
    name = request.query_params.get("file_path") or "root_agent.yaml"
    if "\0" in name or len(name) > _LONGEST:
        return PlainTextResponse("")
    file = folder.joinpath(name.replace("\\", "/").lstrip("/")).resolve()
    drafts = request.query_params.get("tmp", "false").lower() == "true"
    inside = file.is_relative_to(folder) and file.suffix in _YAML
    if drafts or not inside or not await asyncio.to_thread(file.is_file):
        return PlainTextResponse("")
    return FileResponse(file, media_type="application/x-yaml", filename=file.name)


@operation(bool)
async def cancel(request: Request) -> Response:
    """Discard an agent's draft; always succeeds, since devui has no drafts."""
    services_of(request).apps.require(request.path_params["app"])
    return JSONResponse(True)


@operation(list[str])
async def tests(request: Request) -> Response:
    """List the tests that google-adk recorded in the app's folder `tests`."""
    folder = services_of(request).apps.require(request.path_params["app"]) / "tests"
    return JSONResponse(sorted(file.name for file in folder.glob("*.json")))


@operation(dict[str, Any], refusals=(400,))
async def show_test(request: Request) -> Response:
    """Get one recorded test."""
    file = _test(request)
    if not file.is_file():
        raise NotFound("Test file not found")
    try:
        content = json.loads(await asyncio.to_thread(file.read_text, encoding="utf-8"))
    except ValueError as error:
        raise BadRequest(f"{file.name} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadRequest(f"{file.name} must be a JSON object, as `adk test` records it")
    return JSONResponse(content)


def _test(request: Request) -> Path:
    """Return the file of a test. Raises BadRequest if the name leads out of the folder."""
    folder = services_of(request).apps.require(request.path_params["app"]) / "tests"
    name = request.path_params["test"]
    file = folder / (name if name.endswith(".json") else f"{name}.json")
    plain = Path(name).name == name and "\\" not in name and "\0" not in name
    if not plain or file.resolve().parent != folder.resolve():
        raise BadRequest(f"Invalid test name: {name!r}. Name a file in the app's tests folder.")
    return file
