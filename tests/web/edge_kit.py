"""A small guarded application and real servers on free ports, for the tests of the edge."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from devui.web.assets import STATIC_PATH, Assets, StaticFiles
from devui.web.error_pages import ErrorAnswers
from devui.web.render import Renderer
from devui.web.security.access import Access
from devui.web.security.guard import Guard
from devui.web.security.hosts import Hosts
from devui.web.security.login import Login
from devui.web.security.policy import Policy
from devui.web.server import Server, settings
from tests.kit.patience import PATIENCE

PORT = 8000
BASE = f"http://localhost:{PORT}"
TOKEN = "a-token-for-the-tests"
BEARER = {"authorization": f"Bearer {TOKEN}"}
NAVIGATION = {
    "accept": "text/html,application/xhtml+xml",
    "sec-fetch-site": "none",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}


@dataclass
class Site:
    """A guarded application and its components; `calls` lists the requests that reached a view."""

    port: int = PORT
    authenticated: bool = True
    routes: Sequence[BaseRoute] = ()
    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.access = Access(TOKEN)
        self.policy = Policy(
            Hosts.here(self.port), self.access if self.authenticated else None, self.port
        )
        self.assets = Assets.find()
        self.renderer = Renderer(self.assets)
        self.login = Login(self.policy, self.renderer)
        self.app = Guard(self._inner(), self.policy, self.login)

    def client(self, **headers: str) -> TestClient:
        """Return a client that keeps cookies and doesn't follow redirects."""
        return TestClient(
            self.app,
            base_url=f"http://localhost:{self.port}",
            headers=headers,
            follow_redirects=False,
            raise_server_exceptions=False,
        )

    def _inner(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/", self._view),
                Route("/data", self._view, methods=["GET", "POST", "PUT", "PATCH", "DELETE"]),
                Route("/health", self._view),
                Route("/cors", self._cors),
                Route("/user-bytes", self._user_bytes),
                Route("/login", self.login.show, methods=["GET"]),
                Route("/login", self.login.submit, methods=["POST"]),
                Route(STATIC_PATH, StaticFiles(self.assets).show, methods=["GET"]),
                *self.routes,
            ],
            exception_handlers=ErrorAnswers(self.renderer).handlers(),
        )

    async def _view(self, request: Request) -> Response:
        self.calls.append(f"{request.method} {request.url.path}")
        return JSONResponse({"host": request.url.netloc, "scheme": request.url.scheme})

    async def _cors(self, request: Request) -> Response:
        return HTMLResponse(
            "x", headers={"Access-Control-Allow-Origin": "*", "Cache-Control": "public"}
        )

    async def _user_bytes(self, request: Request) -> Response:
        return HTMLResponse("x", headers={"Content-Security-Policy": "sandbox"})


def free_socket(host: str = "127.0.0.1") -> socket.socket:
    """Return a listening socket on a port that the system chooses."""
    return socket.create_server((host, 0))


@asynccontextmanager
async def running(app: ASGIApp, listener: socket.socket) -> AsyncIterator[Server]:
    """Run a real server for the duration of the block."""
    server = Server(settings(app))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.ready.wait()
        yield server
    finally:
        server.should_exit = True
        await task


async def exchange(port: int, request: bytes) -> bytes:
    """Send raw bytes; return everything received until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        await writer.drain()
        return await asyncio.wait_for(reader.read(), PATIENCE)
    finally:
        writer.close()
