"""Connections to MCP servers that stay open between calls (adk-runtime 8.9)."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TextIO

from pydantic import BaseModel, ConfigDict

from devui.runtime.http_client import httpx
from devui.runtime.mistakes import given

try:
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
except ImportError as error:
    raise ImportError(
        "Tools of MCP servers need the package mcp, version 2 or newer: pip install 'devui[mcp]'."
    ) from error

logger = logging.getLogger(__name__)

_CLOSING_SECONDS = 5.0
"""How long a server may take to say goodbye before its connection is cut."""


class StdioConnectionParams(BaseModel):
    """A server that is started as a child process and spoken to over its pipes."""

    server_params: StdioServerParameters
    """The command, its arguments and its environment."""
    timeout: float = 5.0
    """Seconds until it must answer."""


class SseConnectionParams(BaseModel):
    """A server behind HTTP with server-sent events, the older way."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    url: str
    """The address of the server."""
    headers: dict[str, Any] | None = None
    """Sent with each request."""
    timeout: float = 5.0
    """Seconds until it must answer."""
    sse_read_timeout: float = 300.0
    """Seconds to wait for the next event."""
    httpx_client_factory: Callable[..., Any] = create_mcp_http_client
    """Makes the HTTP client from `headers`, `timeout` and `auth`."""


class StreamableHTTPConnectionParams(SseConnectionParams):
    """A server behind streamable HTTP."""

    terminate_on_close: bool = True
    """Whether to end the server's session when the connection is closed."""


SseServerParams = SseConnectionParams
StreamableHTTPServerParams = StreamableHTTPConnectionParams
"""Older names."""


ConnectionParams = (
    StdioServerParameters
    | StdioConnectionParams
    | SseConnectionParams
    | StreamableHTTPConnectionParams
)


class _Connection:
    """One open client.

    It lives in a task of its own, because it must be closed by the task that opened it, and calls
    come from the tasks of many invocations.
    """

    def __init__(self, client: Client, timeout: float) -> None:
        self._client = client
        self._timeout = timeout
        self._opened = asyncio.Event()
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._hold(), name="mcp-connection")

    async def client(self) -> Client:
        """The client, when the server has answered; ConnectionError if it does not."""
        opened = asyncio.create_task(self._opened.wait())
        try:
            await asyncio.wait(
                {opened, self._task}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            opened.cancel()
        if self._opened.is_set() and not self._task.done():
            return self._client
        if not self._task.done():
            self._task.cancel()
            raise ConnectionError(f"It did not answer within {self._timeout:g} seconds.")
        error = None if self._task.cancelled() else self._task.exception()
        raise ConnectionError(str(_root(error)) or repr(_root(error))) from error

    @property
    def is_over(self) -> bool:
        """Whether the client is closed or closing."""
        return self._task.done() or self._leave.is_set()

    async def close(self) -> None:
        self._leave.set()
        await asyncio.wait({self._task}, timeout=_CLOSING_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        if not self._task.cancelled() and (error := self._task.exception()):
            logger.debug("An MCP connection ended with an error: %s", error)

    async def _hold(self) -> None:
        async with self._client:
            self._opened.set()
            await self._leave.wait()


_Key = tuple[asyncio.AbstractEventLoop, frozenset[tuple[str, str]]]


class MCPSessionManager:
    """The connections to one server, one for each event loop and set of HTTP headers."""

    def __init__(
        self,
        connection_params: ConnectionParams,
        errlog: TextIO = sys.stderr,
        **client_options: Any,
    ) -> None:
        """Describe the server.

        Args:
            connection_params: How it is reached.
            errlog: Where the stderr of a child process goes; it needs a file descriptor.
            client_options: More arguments for `mcp.Client`, such as `sampling_callback`.

        Raises:
            ValueError: `connection_params` does not say how.
        """
        if not isinstance(connection_params, ConnectionParams):
            raise ValueError(  # noqa: TRY004  ADK raises it, too
                f"`connection_params` is {given(connection_params)}; give StdioConnectionParams,"
                ' StreamableHTTPConnectionParams(url="...") or SseConnectionParams(url="...").'
            )
        if isinstance(connection_params, StdioServerParameters):
            connection_params = StdioConnectionParams(server_params=connection_params)
        self.connection_params = connection_params
        self._errlog = errlog
        self._options = client_options
        self._connections: dict[_Key, _Connection] = {}

    async def client(self, headers: Mapping[str, str] | None = None) -> Client:
        """An open client, new or used before; ConnectionError names the server."""
        key = (asyncio.get_running_loop(), frozenset((headers or {}).items()))
        connection = self._connections.get(key)
        if connection is None or connection.is_over:
            # The protocol of 2026 gives servers no way back, so that those written for the one
            # before could ask neither the model nor the user (adk-runtime 0: it is off there too).
            transport = self._transport(dict(headers or {}))
            client = Client(transport, mode="legacy", **self._options)
            connection = _Connection(client, self.connection_params.timeout)
            self._connections[key] = connection
        try:
            return await connection.client()
        except ConnectionError as error:
            self._connections.pop(key, None)
            raise ConnectionError(f"No connection to the MCP server {self}: {error}") from error

    async def discard(self, client: Client) -> None:
        """Close the connection of a client that no longer works; the next call opens another."""
        for key, connection in list(self._connections.items()):
            if connection._client is client:
                del self._connections[key]
                await connection.close()

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        here = asyncio.get_running_loop()
        for key in [key for key in self._connections if key[0] is here]:
            await self._connections.pop(key).close()

    def __str__(self) -> str:
        params = self.connection_params
        if isinstance(params, StdioConnectionParams):
            return repr(" ".join([params.server_params.command, *params.server_params.args]))
        return params.url

    def _transport(self, headers: dict[str, str]) -> Any:
        params = self.connection_params
        if isinstance(params, StdioConnectionParams):
            return stdio_client(params.server_params, errlog=self._errlog)
        merged = {**(params.headers or {}), **headers}
        if isinstance(params, StreamableHTTPConnectionParams):
            return _streamable_http(params, merged)
        return sse_client(
            params.url,
            headers=merged,
            timeout=params.timeout,
            sse_read_timeout=params.sse_read_timeout,
            httpx_client_factory=params.httpx_client_factory,
        )


@asynccontextmanager
async def _streamable_http(
    params: StreamableHTTPConnectionParams, headers: dict[str, str]
) -> AsyncIterator[Any]:
    timeout = httpx.Timeout(params.timeout, read=params.sse_read_timeout)
    http = params.httpx_client_factory(headers=headers, timeout=timeout, auth=None)
    async with (
        http,
        streamable_http_client(
            params.url, http_client=http, terminate_on_close=params.terminate_on_close
        ) as streams,
    ):
        yield streams


def _root(error: BaseException | None) -> BaseException | None:
    """The first of the errors that a group of tasks may have raised together."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
