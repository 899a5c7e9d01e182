"""Paths are matched as they were sent, even in a mounted application or after a rewrite."""

import asyncio

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount

from devui.web.routing import EncodedPaths, Route


async def names(request) -> JSONResponse:
    return JSONResponse(request.path_params)


ROUTES = [
    Route("/users/{user}/files/{name:path}/versions", names),
    Route("/users/{user}/files/{name:path}", names),
]


class Rewriting:
    """A middleware that changes only the decoded path."""

    def __init__(self, app) -> None:
        self._app = app

    async def __call__(self, scope, receive, send) -> None:
        path = scope["path"].replace("/old/", "/users/")
        await self._app({**scope, "path": path}, receive, send)


async def get(app, path):
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get(path)


@pytest.mark.parametrize("below", ["", "/devui", "/dev%20ui", "/a/b"])
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/users/a%2Fb/files/c%2fd", {"user": "a/b", "name": "c/d"}),
        ("/users/u/files/c/d", {"user": "u", "name": "c/d"}),
        ("/users/u/files/c%2Fversions", {"user": "u", "name": "c/versions"}),
        ("/users/u/files/c/versions/versions", {"user": "u", "name": "c/versions"}),
        ("/users/%2525/files/%2E%2E%2F%3B", {"user": "%25", "name": "../;"}),
        ("/old/u/files/c%20d", {"user": "u", "name": "c d"}),
    ],
)
def test_names_are_decoded_after_a_route_has_matched(below, path, expected) -> None:
    inner = EncodedPaths(Starlette(routes=ROUTES))
    mount = below.replace("%20", " ")
    app = Starlette(routes=[Mount(mount, inner)]) if below else inner
    answer = asyncio.run(get(Rewriting(app), below + path))
    assert (answer.status_code, answer.json()) == (200, expected)
