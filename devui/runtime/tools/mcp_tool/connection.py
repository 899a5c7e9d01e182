"""One open connection to an MCP server (adk-runtime 8.9)."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self

from mcp import Client
from mcp.types import METHOD_NOT_FOUND

from devui.runtime.http_client import httpx

logger = logging.getLogger(__name__)

FORGOTTEN = "Session terminated"
"""What mcp says of an answer with 404 that has no words of the server's own."""
_CLOSING_SECONDS = 5.0
"""How long a server may take to say goodbye before its connection is cut."""


class Connection:
    """One open client.

    It lives in a task of its own, because it must be closed by the task that opened it, and calls
    come from the tasks of many invocations.
    """

    def __init__(
        self,
        transport: AbstractAsyncContextManager[Any],
        timeout: float,
        **client_options: Any,
    ) -> None:
        """Begin to connect; `timeout` is how many seconds the server has to answer."""
        self.users = 0
        """How many are asking just now."""
        self.last_used = time.monotonic()
        """When somebody was last given it, or had asked."""
        self.is_dropped = False
        """Whether nobody is to begin to ask; the last who does closes it."""
        self._ended = False
        # The protocol of 2026 gives servers no way back, so that those written for the one
        # before could ask neither the model nor the user (adk-runtime 0: it is off there too).
        self._client = Client(_watched(transport, self._end), mode="legacy", **client_options)
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
        """Whether the server has gone, or the client is closed or closing."""
        return self._ended or self._task.done() or self._leave.is_set()

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it is left, such as the process of a server."""
        return self._task.done()

    async def close(self) -> None:
        """Say goodbye; a server that does not answer in time is left without."""
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

    def _end(self) -> None:
        self._ended = True


class _Watched:
    """What a server sends, and a word when nothing more will come.

    A client whose server has gone fails only when it is used, and then nobody can tell whether
    the server has got the call.
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
async def _watched(
    transport: AbstractAsyncContextManager[Any], at_end: Callable[[], None]
) -> AsyncIterator[tuple[Any, Any]]:
    async with transport as (reading, writing, *_):
        yield _Watched(reading, at_end), writing


def tell_forgotten(http: Any) -> None:
    """Make mcp say `FORGOTTEN` for every session that its server no longer knows.

    MCP, "Session Management": 404 to a request with a session's id means that. mcp says it only
    of an answer that has no words of the server's own.
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
    if code != METHOD_NOT_FOUND:  # then the session is known
        response.headers["content-type"] = "text/plain"


def _root(error: BaseException | None) -> BaseException | None:
    """The first of the errors that a group of tasks may have raised together."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
