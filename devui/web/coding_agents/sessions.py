"""Coding agents that speak the Model Context Protocol with this server.

The tools are clients of this server's own API (`devui.mcp`), with the token that the request came
with: they can do what its sender can do, and nothing else.
"""

import asyncio
from types import ModuleType, TracebackType
from typing import Any, Final, Self

from starlette.types import Receive, Scope, Send

from devui.web.errors import NotThere
from devui.web.later import Later

_protocol = Later("devui.mcp.protocol")
_PACKAGES: Final = frozenset({"mcp", "mcp_types"})


class McpSessions:
    """Coding agents that are connected. It begins with their first request and ends with the
    server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._begun = asyncio.Lock()
        self._manager: Any = None
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the sessions that are left."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises NotThere without the package `mcp`."""
        async with self._begun:
            if self._manager is None:
                await self._begin()
        await self._manager.handle_request(scope, receive, send)

    async def _begin(self) -> None:
        manager = (await asyncio.to_thread(_loaded)).http_manager(self._url)
        ready = asyncio.Event()
        self._task = asyncio.create_task(self._run(manager, ready), name="MCP sessions")
        await ready.wait()
        self._manager = manager

    async def _run(self, manager: Any, ready: asyncio.Event) -> None:
        """Its tasks end in the task in which they began, which is none of a request's."""
        async with manager.run():
            ready.set()
            await self._over.wait()


def _loaded() -> ModuleType:
    try:
        return _protocol.load()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        raise NotThere(
            "the server has no MCP without the package mcp: pip install 'devui[mcp]'"
        ) from error
