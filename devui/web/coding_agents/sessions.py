"""The sessions of coding agents that speak the Model Context Protocol with this server.

The tools are clients of this server's own API (`devui.mcp`) and use the request's token: they can
do what its sender can do, and nothing else.
"""

import asyncio
from collections import OrderedDict
from types import ModuleType, TracebackType
from typing import Any, Final, Self

from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from devui.web.errors import UnsupportedRoute
from devui.web.lazy_modules import LazyModule

_protocol = LazyModule("devui.mcp.protocol")
_PACKAGES: Final = frozenset({"mcp", "mcp_types"})
_OPEN: Final = 64
"""The maximum number of sessions in the package. When a new session reaches it, the one that was
idle for longest is ended."""
_SESSION: Final = "mcp-session-id"


class McpSessions:
    """The sessions of connected coding agents.

    The protocol's session manager starts with the first request and stops with the server.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._begin_lock = asyncio.Lock()
        self._manager: Any = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()
        self._open: OrderedDict[str, int] = OrderedDict()
        """The number of active requests of each session, least recently used first."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the remaining sessions."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises UnsupportedRoute without the package `mcp`."""
        async with self._begin_lock:
            if self._manager is None:
                await self._begin()
        session = Headers(scope=scope).get(_SESSION, "")
        is_known = session in self._open
        if is_known:
            self._open[session] += 1

        async def forward(message: Message) -> None:
            nonlocal session
            if not session and message["type"] == "http.response.start":
                session = Headers(raw=message.get("headers", [])).get(_SESSION, "")
                self._open.update({session: 1} if session else {})
            await send(message)

        try:
            await self._manager.handle_request(scope, receive, forward)
        finally:
            if session in self._open:
                self._open[session] -= 1
                self._open.move_to_end(session)
                if scope["method"] == "DELETE":
                    del self._open[session]
                elif not is_known:
                    await self._make_room(scope)

    async def _make_room(self, scope: Scope) -> None:
        """End idle sessions until there is room for another one.

        A client that vanished never ends its session. One that was only idle starts a new session
        when it learns that its old one is over.
        """
        while len(self._open) >= _OPEN:
            idle = next((name for name, requests in self._open.items() if not requests), None)
            if idle is None:
                return
            del self._open[idle]
            await self._manager.handle_request(_delete(scope, idle), _nothing, _ignore)

    async def _begin(self) -> None:
        manager = (await asyncio.to_thread(_load_protocol)).http_manager(self._url)
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(manager, ready), name="MCP sessions")
        await ready.wait()
        self._manager = manager

    async def _run(self, manager: Any, ready: asyncio.Event) -> None:
        """Run the manager in its own task: its tasks must end in the task that started them."""
        async with manager.run():
            ready.set()
            await self._over.wait()


def _delete(scope: Scope, session: str) -> Scope:
    """Return the request that ends a session, as its client would send it."""
    host = [(name, value) for name, value in scope["headers"] if name == b"host"]
    return {
        **scope,
        "method": "DELETE",
        "headers": [*host, (_SESSION.encode(), session.encode())],
    }


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_: Message) -> None:
    pass


def _load_protocol() -> ModuleType:
    try:
        return _protocol.load()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise UnsupportedRoute(
            "the server has no MCP without the package mcp: pip install 'devui[mcp]'"
        ) from error
