"""Artifacts over ADK's REST API, as Parts (adk-web 1.4). Names are keys and never paths (R23)."""

import json
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui.debugger.artifact_parts import content_of, part_of
from devui.store.rows import ArtifactRow, SessionRow
from devui.web.api.bodies import ArtifactBody, parse
from devui.web.api.sessions import session_named
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.wire.artifacts import artifact_uri

_LIMIT: Final = 20_000_000
_LATEST: Final = "latest"


async def names(request: Request) -> Response:
    """The names of the session's files, and those of the user with `user:`."""
    found, row = await session_named(request)
    return JSONResponse(await found.journal.artifacts.keys(row.app, row.user, row.id))


async def save(request: Request) -> Response:
    """Keep a new version of a file, either bytes or a text."""
    found, row = await session_named(request)
    body = parse(ArtifactBody, await read_json(request, limit=_LIMIT))
    part = body.artifact.model_dump(by_alias=True, exclude_none=True)
    try:
        content = content_of(part)
    except ValueError as error:
        raise BadRequest(f"the artifact's data is no base64: {error}") from error
    version = await found.journal.artifacts.save(
        *_owner(row),
        body.filename,
        mime=content.mime,
        data=content.data,
        text=content.text,
        custom_metadata=body.custom_metadata,
    )
    return JSONResponse(await _described(found, row, body.filename, version))


async def newest(request: Request) -> Response:
    """A file as a Part, the newest version without `?version=`."""
    return await _part(request, request.query_params.get("version", _LATEST))


async def version(request: Request) -> Response:
    """One version of a file as a Part: a number from 0, or `latest`."""
    return await _part(request, request.path_params["version"])


async def versions(request: Request) -> Response:
    """The numbers of a file's versions, ascending."""
    found, row = await session_named(request)
    known = await found.journal.artifacts.versions(*_owner(row), request.path_params["name"])
    return JSONResponse([each.version for each in known])


async def every_metadata(request: Request) -> Response:
    """What is known of each version of a file, ascending."""
    found, row = await session_named(request)
    known = await found.journal.artifacts.versions(*_owner(row), request.path_params["name"])
    return JSONResponse([_told(row, each) for each in known])


async def metadata(request: Request) -> Response:
    """What is known of one version."""
    asked = _number(request.path_params["version"])
    found, row = await session_named(request)
    return JSONResponse(await _described(found, row, request.path_params["name"], asked))


async def delete(request: Request) -> Response:
    """Delete all versions of a file; one that is not there is no error, as with ADK."""
    found, row = await session_named(request)
    await found.journal.artifacts.delete(*_owner(row), request.path_params["name"])
    return JSONResponse(None)


async def _part(request: Request, asked: str) -> Response:
    found, row = await session_named(request)
    artifact = await found.journal.artifacts.load(
        *_owner(row), request.path_params["name"], version=_number(asked)
    )
    if artifact is None:
        raise NotFound("Artifact not found")
    return JSONResponse(part_of(artifact))


async def _described(
    found: Services, row: SessionRow, name: str, asked: int | None
) -> dict[str, Any]:
    known = await found.journal.artifacts.versions(*_owner(row), name)
    wanted = [each for each in known if asked in {None, each.version}]
    if not wanted:
        raise NotFound("Artifact version not found")
    return _told(row, wanted[-1])


def _told(row: SessionRow, known: ArtifactRow) -> dict[str, Any]:
    return {
        "version": known.version,
        "canonicalUri": artifact_uri(*_owner(row), known.name, version=known.version),
        "customMetadata": json.loads(known.custom_metadata or "{}"),
        "createTime": known.created,
        "mimeType": known.mime or "text/plain",
    }


def _owner(row: SessionRow) -> tuple[str, str, str]:
    return row.app, row.user, row.id


def _number(text: str) -> int | None:
    """The version that is meant; None for the newest."""
    number = whole_number(text)
    if number is None and text != _LATEST:
        raise Unprocessable("Invalid version ID")
    return number
