"""Connections to MCP servers that stay open between calls (adk-runtime 8.9)."""

import asyncio
import copy
import logging
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Self, TextIO, TypeVar

from mcp import Client
from mcp.types import INTERNAL_ERROR, METHOD_NOT_FOUND
from pydantic import ConfigDict

from devui.runtime.http_client import Timeouts, httpx
from devui.runtime.mistakes import SpellCheckedModel, brief

# One open connection to an MCP server (adk-runtime 8.9).


logger = logging.getLogger(__name__)

FORGOTTEN = "Session terminated"
"""mcp's message for a 404 response without an error message from the server."""
_CLOSING_SECONDS = 5.0
"""How long a server may take to close a connection before it is cut, in seconds."""


class Connection:
    """One open client.

    It is held by a task of its own, because it must be closed by the task that opened it, and calls
    come from the tasks of many invocations.
    """

    def __init__(
        self,
        transport: AbstractAsyncContextManager[Any],
        timeout: float,
        **client_options: Any,
    ) -> None:
        """Start to connect; `timeout` is how long the server may take to answer, in seconds."""
        self.users = 0
        """How many calls are in progress."""
        self.last_used = time.monotonic()
        """When it was last handed out, or a call ended, by `time.monotonic`."""
        self.is_dropped = False
        """Whether no new calls may start; the last one in progress closes it."""
        self._ended = False
        # With the protocol of 2026, servers can't call back, so those written for the previous one
        # could ask neither the model nor the user (adk-runtime 0: it is off there too).
        self._client = Client(_watch(transport, self._end), mode="legacy", **client_options)
        self._timeout = timeout
        self._ready = asyncio.Event()
        self._leave = asyncio.Event()
        self._task = asyncio.create_task(self._hold(), name="mcp-connection")

    async def client(self) -> Client:
        """Return the client once the server has answered; raise ConnectionError if it doesn't."""
        opening = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait(
                {opening, self._task}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            opening.cancel()
        if self._ready.is_set() and not self._task.done():
            return self._client
        if not self._task.done():
            self._task.cancel()
            raise ConnectionError(f"It did not answer within {self._timeout:g} seconds.")
        error = None if self._task.cancelled() else self._task.exception()
        raise ConnectionError(str(_root(error)) or repr(_root(error))) from error

    @property
    def is_over(self) -> bool:
        """Whether the server has gone, or the client is closed or closing."""
        return self._ended or self._task.done() or self._leave.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether nothing is left of it, such as the process of a server."""
        return self._task.done()

    async def close(self) -> None:
        """Close the connection properly, or cut it if the server doesn't answer in time."""
        self._leave.set()
        await asyncio.wait({self._task}, timeout=_CLOSING_SECONDS)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
        if not self._task.cancelled() and (error := self._task.exception()):
            logger.debug("An MCP connection ended with an error: %s", error)

    async def _hold(self) -> None:
        async with self._client:
            self._ready.set()
            await self._leave.wait()

    def _end(self) -> None:
        self._ended = True


class _Watched:
    """A stream from a server that reports its end.

    Otherwise a client whose server has gone fails only when it is used, and then it is unknown
    whether the server received the call.
    """

    def __init__(self, stream: Any, at_end: Callable[[], None]) -> None:
        self._stream = stream
        self._at_end = at_end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._at_end()
            raise

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)


@asynccontextmanager
async def _watch(
    transport: AbstractAsyncContextManager[Any], at_end: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    async with transport as (reading, writing, *_):
        yield _Watched(reading, at_end), writing


def tell_forgotten(http: Any) -> None:
    """Make mcp report `FORGOTTEN` for every session that its server no longer knows.

    MCP, "Session Management": that is the meaning of 404 for a request with a session id. mcp
    reports it only if the response has no error message of the server's own.
    """
    http.event_hooks["response"].append(_without_own_words)


async def _without_own_words(response: Any) -> None:
    request = response.request
    is_asked = request.method == "POST" and "mcp-session-id" in request.headers
    if not is_asked or response.status_code != httpx.codes.NOT_FOUND:
        return
    await response.aread()
    try:
        code = response.json()["error"]["code"]
    except (ValueError, LookupError, TypeError):
        return
    if code != METHOD_NOT_FOUND:  # with that code, the session is known
        response.headers["content-type"] = "text/plain"


def _root(error: BaseException | None) -> BaseException | None:
    """Return the first error of a group that tasks may have raised together."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


# Reports why an MCP server over HTTP refused a request (adk-runtime 8.9).


_BODY_LENGTH = 300
"""How many characters of a response to show."""


def tell_refusals(http: Any) -> None:
    """Make mcp report the status and the text with which a server refused a request.

    mcp itself only reports an error, whether a token is wrong or the server broken. It passes on
    errors in JSON-RPC form, so refusals are converted to that form.
    """
    http.event_hooks["response"].append(_as_json_rpc)


async def _as_json_rpc(response: Any) -> None:
    request = response.request
    is_mcp = request.method == "POST" and "text/event-stream" in request.headers.get("accept", "")
    has_meaning = response.status_code == httpx.codes.NOT_FOUND  # of a method or the session
    if not is_mcp or has_meaning or response.status_code < httpx.codes.BAD_REQUEST:
        return
    body = b"".join([piece async for piece in response.stream])
    await response.stream.aclose()
    came = type(response)(response.status_code, headers=response.headers, content=body)
    if not _is_json_rpc(came):
        words = came.text.strip()[:_BODY_LENGTH]
        status_line = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        error = {
            "code": INTERNAL_ERROR,
            "message": f"{status_line}: {words}" if words else status_line,
        }
        message = {"jsonrpc": "2.0", "id": None, "error": error}
        came = type(response)(response.status_code, json=message)
        response.headers["content-type"] = came.headers["content-type"]
        response.headers.pop("content-encoding", None)
    response.stream = came.stream


def _is_json_rpc(response: Any) -> bool:
    try:
        return "code" in response.json()["error"]
    except (ValueError, LookupError, TypeError):
        return False


try:
    from mcp import Client, ClientSession, MCPError, StdioServerParameters
    from mcp.client.sse import sse_client
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client
    from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST

    from devui.runtime.tools.mcp_tool.mcp_session_manager import (
        FORGOTTEN,
        Connection,
        tell_forgotten,
        tell_refusals,
    )
except ImportError as error:
    raise ImportError(
        "MCP tools need the package mcp, version 2 or newer: pip install 'devui[mcp]'."
    ) from error

T = TypeVar("T")

_IDLE_SECONDS = 900.0
"""How long an unused connection is kept, in seconds, as in ADK."""


class StdioConnectionParams(SpellCheckedModel):
    """A server that runs as a child process and communicates over its pipes."""

    server_params: StdioServerParameters
    """The command, its arguments and its environment."""
    timeout: float = 5.0
    """The time limit for the start and for each call, in seconds."""


class SseConnectionParams(SpellCheckedModel):
    """A server over HTTP with server-sent events, the older transport."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    url: str
    """The address of the server."""
    headers: dict[str, Any] | None = None
    """Headers for each request."""
    timeout: float = 5.0
    """The time limit for the start and for listing tools, in seconds."""
    sse_read_timeout: float = 300.0
    """The time limit for the next event and for the result of a call, in seconds."""
    httpx_client_factory: Callable[..., Any] = create_mcp_http_client
    """Creates the HTTP client, of httpx or httpx2, from `headers`, `timeout` and `auth`."""


class StreamableHTTPConnectionParams(SseConnectionParams):
    """A server over streamable HTTP."""

    terminate_on_close: bool = True
    """Whether to end the server's session when the connection is closed."""


SseServerParams = SseConnectionParams
StreamableHTTPServerParams = StreamableHTTPConnectionParams
"""Former names."""


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
            connection_params: How to connect to it.
            errlog: Where the stderr of a child process goes; it needs a file descriptor.
            client_options: More arguments for `mcp.Client`, such as `sampling_callback`.

        Raises:
            ValueError: `connection_params` has the wrong type.
        """
        if not isinstance(connection_params, ConnectionParams):
            raise ValueError(  # noqa: TRY004  as ADK does
                f"`connection_params` is {brief(connection_params)}; pass StdioConnectionParams,"
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
        """Return a manager for the same server without connections, which belong to this one."""
        params = copy.deepcopy(self._connection_params, memo)
        return type(self)(params, self.errlog, **self._options)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, without connections and stderr."""
        return {**vars(self), "errlog": None, "_connections": {}, "_given_up": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, errlog=sys.stderr)

    async def client(self, headers: Mapping[str, str] | None = None) -> Client:
        """Return an open client, new or reused; raise ConnectionError, which names the server."""
        return await (await self._connected(headers)).client()

    async def create_session(self, headers: Mapping[str, str] | None = None) -> ClientSession:
        """Return the session of `client`, for code that communicates with the server directly."""
        return (await self.client(headers)).session

    async def ask(
        self,
        headers: Mapping[str, str] | None,
        question: Callable[[Client], Awaitable[T]],
        *,
        changes_nothing: bool = False,
    ) -> T:
        """Send a request, and again over a new connection if the server hasn't received it.

        Args:
            headers: The HTTP headers of the connection.
            question: Sends the request through the client that it gets.
            changes_nothing: Whether it may be sent twice. If so, it is also repeated if the server
                went away before it answered, and has a time limit.

        Raises:
            ConnectionError: the server can't be reached or doesn't answer in time.
            mcp.MCPError: the error that the server returned.
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
        """Let the next call open another connection; calls in progress on this one can finish."""
        for key, each in list(self._connections.items()):
            if each is connection:
                del self._connections[key]
        connection.is_dropped = True
        if not connection.users:
            await connection.close()

    async def _drop_idle(self, current: _Key) -> None:
        """Close unused connections: each new token leads to a new connection."""
        long_ago = time.monotonic() - _IDLE_SECONDS
        for key, each in list(self._connections.items()):
            is_idle = not each.users and each.last_used < long_ago
            if key[0].is_closed():
                del self._connections[key]
            elif is_idle and key[0] is current[0] and key != current:
                await self._drop(each)

    async def _within(self, limit: float | None, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(limit) as timeout:
                return await answer
        except TimeoutError as error:
            if not timeout.expired():
                raise
            raise ConnectionError(
                f"The MCP server {self} did not answer within {limit:g} seconds."
            ) from error

    async def _connected(self, headers: Mapping[str, str] | None) -> Connection:
        try:
            return await self._open(self._merge_headers(headers))
        except ConnectionError:  # nothing was sent yet, so nothing can happen twice
            return await self._open(self._merge_headers(headers))

    def _merge_headers(self, headers: Mapping[str, str] | None) -> dict[str, str]:
        """Return the headers of a connection; those of the settings may have changed meanwhile."""
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
        """Keep a connection that failed for as long as its server may still be running."""
        pairs = [*self._given_up, (loop, connection)]
        self._given_up = [each for each in pairs if not (each[0].is_closed() or each[1].has_ended)]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        here = asyncio.get_running_loop()
        for key in [key for key in self._connections if key[0] is here]:
            await self._connections.pop(key).close()
        # A loop that ends while a server is being closed waits just as long as the server does.
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
    """Create the client with a timeout for its own library; mcp's doesn't fit httpx."""
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
