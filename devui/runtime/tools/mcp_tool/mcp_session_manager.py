"""Connections to MCP servers that stay open between calls (adk-runtime 8.9)."""

import asyncio
import copy
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self, TextIO, TypeVar

from pydantic import ConfigDict

from devui.runtime.http_client import Timeouts
from devui.runtime.ignored import Spelt
from devui.runtime.mistakes import given

try:
    from mcp import Client, ClientSession, MCPError, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

    from devui.runtime.tools.mcp_tool.connection import FORGOTTEN, Connection, tell_forgotten
    from devui.runtime.tools.mcp_tool.refusals import tell_refusals
except ImportError as error:
    raise ImportError(
        "Tools of MCP servers need the package mcp, version 2 or newer: pip install 'devui[mcp]'."
    ) from error

T = TypeVar("T")

_IDLE_SECONDS = 900.0
"""How long a connection is kept that nobody uses, as in ADK."""


class StdioConnectionParams(Spelt):
    """A server that is started as a child process and spoken to over its pipes."""

    server_params: StdioServerParameters
    """The command, its arguments and its environment."""
    timeout: float = 5.0
    """Seconds until it must answer: to the start, and to each call."""


class SseConnectionParams(Spelt):
    """A server behind HTTP with server-sent events, the older way."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    url: str
    """The address of the server."""
    headers: dict[str, Any] | None = None
    """Sent with each request."""
    timeout: float = 5.0
    """Seconds until it must answer to the start, and list its tools."""
    sse_read_timeout: float = 300.0
    """Seconds to wait for the next event, and for the answer to a call."""
    httpx_client_factory: Callable[..., Any] = create_mcp_http_client
    """Makes the HTTP client, of httpx or httpx2, from `headers`, `timeout` and `auth`."""


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
        self._connection_params = connection_params
        self.errlog = errlog
        self._options = client_options
        self._connections: dict[_Key, Connection] = {}
        self._given_up: list[tuple[asyncio.AbstractEventLoop, Connection]] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The same server without its connections, which belong to this one."""
        params = copy.deepcopy(self._connection_params, memo)
        return type(self)(params, self.errlog, **self._options)

    async def client(self, headers: Mapping[str, str] | None = None) -> Client:
        """An open client, new or used before; ConnectionError names the server."""
        return await (await self._connected(headers)).client()

    async def create_session(self, headers: Mapping[str, str] | None = None) -> ClientSession:
        """The session of `client`, for code that speaks with the server itself."""
        return (await self.client(headers)).session

    async def ask(
        self,
        headers: Mapping[str, str] | None,
        question: Callable[[Client], Awaitable[T]],
        *,
        changes_nothing: bool = False,
    ) -> T:
        """Ask the server, and once more over a new connection if it has not got the question.

        Args:
            headers: The HTTP headers of the connection.
            question: Asks through the client that it is given.
            changes_nothing: It may be asked twice, so it is also when the server has gone while
                it was to answer. It is given up when it is not answered in time.

        Raises:
            ConnectionError: the server cannot be reached or does not answer in time.
            mcp.MCPError: what the server says instead of an answer.
        """
        limit = self._connection_params.timeout if changes_nothing else None
        connection = await self._connected(headers)
        try:
            return await self._answer(connection, question, limit)
        except MCPError as error:
            is_forgotten = error.code == INVALID_REQUEST and error.message == FORGOTTEN
            if not is_forgotten and error.code != CONNECTION_CLOSED:
                raise
            await self._drop(connection)
            if not is_forgotten and not changes_nothing:
                raise
        return await self._answer(await self._connected(headers), question, limit)

    async def _answer(
        self,
        connection: Connection,
        question: Callable[[Client], Awaitable[T]],
        limit: float | None,
    ) -> T:
        connection.users += 1
        try:
            return await self._within(limit, question(await connection.client()))
        finally:
            connection.users -= 1
            connection.last_used = time.monotonic()
            if connection.is_dropped and not connection.users:
                await connection.close()

    async def _drop(self, connection: Connection) -> None:
        """Let the next call open another; who is still asked here is heard out."""
        for key, each in list(self._connections.items()):
            if each is connection:
                del self._connections[key]
        connection.is_dropped = True
        if not connection.users:
            await connection.close()

    async def _drop_idle(self, wanted: _Key) -> None:
        """Close what nobody needs any more: with each new token comes a new connection."""
        long_ago = time.monotonic() - _IDLE_SECONDS
        for key, each in list(self._connections.items()):
            is_idle = not each.users and each.last_used < long_ago
            if key[0].is_closed():
                del self._connections[key]
            elif is_idle and key[0] is wanted[0] and key != wanted:
                await self._drop(each)

    async def _within(self, limit: float | None, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(limit) as given:
                return await answer
        except TimeoutError as error:
            if not given.expired():
                raise
            raise ConnectionError(
                f"The MCP server {self} did not answer within {limit:g} seconds."
            ) from error

    async def _connected(self, headers: Mapping[str, str] | None) -> Connection:
        try:
            return await self._open(self._merged(headers))
        except ConnectionError:  # nothing was asked yet, so that nothing can happen twice
            return await self._open(self._merged(headers))

    def _merged(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        """The headers of a connection; those of the settings may have been changed meanwhile."""
        params = self._connection_params
        own = {} if isinstance(params, StdioConnectionParams) else params.headers or {}
        return {**own, **(headers or {})}

    async def _open(self, headers: dict[str, str]) -> Connection:
        key = (asyncio.get_running_loop(), frozenset(headers.items()))
        await self._drop_idle(key)
        connection = former = self._connections.get(key)
        if connection is None or connection.is_over:
            connection = self._connections[key] = self._connection(headers)
            if former is not None:
                await former.close()
        connection.last_used = time.monotonic()
        try:
            await connection.client()
        except ConnectionError as error:
            if self._connections.get(key) is connection:
                del self._connections[key]
                self._give_up(key[0], connection)
            raise ConnectionError(f"No connection to the MCP server {self}: {error}") from error
        return connection

    def _give_up(self, loop: asyncio.AbstractEventLoop, connection: Connection) -> None:
        """Keep hold of one that came to nothing while its server may still be there."""
        known = [*self._given_up, (loop, connection)]
        self._given_up = [each for each in known if not (each[0].is_closed() or each[1].has_ended)]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        here = asyncio.get_running_loop()
        for key in [key for key in self._connections if key[0] is here]:
            await self._connections.pop(key).close()
        # A loop that ends under a server that is being ended waits for as long as that server.
        given_up = [connection for loop, connection in self._given_up if loop is here]
        self._given_up = [each for each in self._given_up if each[0] is not here]
        await asyncio.gather(*(connection.close() for connection in given_up))

    def __str__(self) -> str:
        params = self._connection_params
        if isinstance(params, StdioConnectionParams):
            return repr(" ".join([params.server_params.command, *params.server_params.args]))
        return params.url

    def _connection(self, headers: dict[str, str]) -> Connection:
        params = self._connection_params
        limit = params.timeout
        if isinstance(params, SseConnectionParams):
            limit = params.sse_read_timeout
        return Connection(
            self._transport(headers), params.timeout, read_timeout_seconds=limit, **self._options
        )

    def _transport(self, headers: dict[str, str]) -> Any:
        params = self._connection_params
        if isinstance(params, StdioConnectionParams):
            return stdio_client(params.server_params, errlog=self.errlog)
        if isinstance(params, StreamableHTTPConnectionParams):
            return _streamable_http(params, headers)
        return sse_client(
            params.url,
            headers=headers,
            timeout=params.timeout,
            sse_read_timeout=params.sse_read_timeout,
            httpx_client_factory=partial(_http_client, params),
        )


def _http_client(
    params: SseConnectionParams, headers: dict[str, str], timeout: Any = None, auth: Any = None
) -> Any:
    """The client; the `timeout` that mcp gives is none to a client of httpx, and said anew."""
    timeout = Timeouts(params.timeout, params.sse_read_timeout, params.timeout, params.timeout)
    return params.httpx_client_factory(headers=headers, timeout=timeout, auth=auth)


@asynccontextmanager
async def _streamable_http(
    params: StreamableHTTPConnectionParams, headers: dict[str, str]
) -> AsyncIterator[Any]:
    http = _http_client(params, headers)
    tell_forgotten(http)
    tell_refusals(http)
    async with (
        http,
        streamable_http_client(
            params.url, http_client=http, terminate_on_close=params.terminate_on_close
        ) as streams,
    ):
        yield streams
