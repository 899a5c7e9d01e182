"""Artifacts over ADK's REST API, as Parts (adk-web 1.4). Names are keys, never paths (R23)."""

import json
from types import NoneType
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from devui.debugger.events.artifact_parts import content_of, part_of
from devui.store.rows import ArtifactRow, SessionRow
from devui.web.adk.answers import AdkArtifactVersionJson
from devui.web.adk.bodies import ArtifactBody, parse, unused
from devui.web.adk.event_json import AdkPartJson
from devui.web.adk.sessions import session_named
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.operation import Query, Refusal, operation
from devui.web.security.intake import read_json
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.wire.artifacts import artifact_uri

_LIMIT: Final = 20_000_000
_LATEST: Final = "latest"
_NO_VERSION: Final = Refusal(422, "The version isn't a number")


@operation(list[str])
async def names(request: Request) -> Response:
    """List file names of the session, and those of the user with the prefix `user:`."""
    services, row = await session_named(request)
    return JSONResponse(await services.journal.artifacts.keys(row.app, row.user, row.id))


@operation(AdkArtifactVersionJson, body=ArtifactBody)
async def save(request: Request) -> Response:
    """Save a new version of a file, as bytes or text.

    `artifact` is a Part with `inlineData` or `text`.
    """
    services, row = await session_named(request)
    value = await read_json(request, limit=_LIMIT, allow_runtime_json=True)
    body = parse(ArtifactBody, value)
    part = body.artifact.model_dump(by_alias=True, exclude_none=True)
    try:
        content = content_of(part)
    except ValueError as error:
        raise BadRequest(f"the artifact's data isn't valid base64: {error}") from error
    version = await services.journal.artifacts.save(
        *_owner(row),
        body.filename,
        mime=content.mime,
        data=content.data,
        text=content.text,
        custom_metadata=body.custom_metadata,
    )
    metadata = await _metadata_of(services, row, body.filename, version)
    return JSONResponse(metadata, headers=unused(ArtifactBody, value))


@operation(
    AdkPartJson,
    query={"version": Query(str, "A number from 0, or `latest`")},
    refusals=(_NO_VERSION,),
)
async def newest(request: Request) -> Response:
    """Get a file as a Part, by default its newest version."""
    return await _part(request, request.query_params.get("version", _LATEST))


@operation(AdkPartJson, refusals=(_NO_VERSION,))
async def version(request: Request) -> Response:
    """Get one version of a file as a Part: a number from 0, or `latest`."""
    return await _part(request, request.path_params["version"])


@operation(list[int])
async def versions(request: Request) -> Response:
    """List a file's version numbers, from 0."""
    services, row = await session_named(request)
    rows = await services.journal.artifacts.versions(*_owner(row), request.path_params["name"])
    return JSONResponse([each.version for each in rows])


@operation(list[AdkArtifactVersionJson])
async def every_metadata(request: Request) -> Response:
    """List the metadata of a file's versions, ascending; the URI contains no path."""
    services, row = await session_named(request)
    rows = await services.journal.artifacts.versions(*_owner(row), request.path_params["name"])
    return JSONResponse([_version_json(row, each) for each in rows])


@operation(AdkArtifactVersionJson, refusals=(_NO_VERSION,))
async def metadata(request: Request) -> Response:
    """Get the metadata of one version."""
    version = _number(request.path_params["version"])
    services, row = await session_named(request)
    return JSONResponse(await _metadata_of(services, row, request.path_params["name"], version))


@operation(NoneType)
async def delete(request: Request) -> Response:
    """Delete all versions of a file; a missing one is not an error, as in ADK."""
    services, row = await session_named(request)
    await services.journal.artifacts.delete(*_owner(row), request.path_params["name"])
    return JSONResponse(None)


async def _part(request: Request, version: str) -> Response:
    services, row = await session_named(request)
    artifact = await services.journal.artifacts.load(
        *_owner(row), request.path_params["name"], version=_number(version)
    )
    if artifact is None:
        raise NotFound("Artifact not found")
    return JSONResponse(part_of(artifact))


async def _metadata_of(
    services: Services, row: SessionRow, name: str, version: int | None
) -> AdkArtifactVersionJson:
    versions = await services.journal.artifacts.versions(*_owner(row), name)
    matches = [each for each in versions if version in {None, each.version}]
    if not matches:
        raise NotFound("Artifact version not found")
    return _version_json(row, matches[-1])


def _version_json(row: SessionRow, artifact: ArtifactRow) -> AdkArtifactVersionJson:
    return {
        "version": artifact.version,
        "canonicalUri": artifact_uri(*_owner(row), artifact.name, version=artifact.version),
        "customMetadata": json.loads(artifact.custom_metadata or "{}"),
        "createTime": artifact.created,
        "mimeType": artifact.mime or "text/plain",
    }


def _owner(row: SessionRow) -> tuple[str, str, str]:
    return row.app, row.user, row.id


def _number(text: str) -> int | None:
    """Return the version number; None for `latest`. Raises Unprocessable."""
    number = whole_number(text)
    if number is None and text != _LATEST:
        raise Unprocessable("Invalid version ID")
    return number
