"""Server-sent events: the encoder (R59), and a response that keeps a stream healthy (R62).

A stream tells its reader how to come back (`retry`), shows that it lives (a comment every fifteen
seconds), ends as soon as the reader leaves, when a reader takes nothing for too long, or when
the server goes. What it does not do is remember: each durable message carries its journal sequence
as `id`, and whoever makes the source starts it after the cursor the reader sent.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from devui.web.errors import Unavailable

T = TypeVar("T")


async def disconnected(receive: Receive) -> None:
    """Return when who asked has gone; whatever they send meanwhile is passed over."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait for their ends."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work of a request whose body has been read; it is cancelled when its client goes.

    Raises what the work does, and CancelledError for a client that has gone.
    """
    working = asyncio.create_task(work, name=f"work for {request.url.path}")
    leaving = asyncio.create_task(disconnected(request.receive), name="client")
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop(working, leaving)
    return working.result()


MEDIA_TYPE: Final = "text/event-stream; charset=utf-8"

MAX_STREAMS: Final = 128
"""Streams open at one time, over all browsers and programs (R62): those of the 64 runs that
`/run_sse` may have, and as many that watch."""

HEARTBEAT: Final = 15.0
"""Seconds of silence after which a comment is sent."""

RETRY: Final = 1000
"""Milliseconds after which an EventSource comes back."""

QUIET: Final = 4.0
"""The same for `/run_sse`: httpx, and with it many scripts, gives up after five."""

STALLED: Final = 20.0
"""Seconds that a reader may leave a write waiting before it is dropped (R60)."""

BYE: Final = "bye"
"""Event name: this stream is over for good; `hx-sse:close="bye"` keeps htmx from coming back."""

AWAY: Final = "away"
"""Event name: the server is going; a reader that sees no `bye` tries again until it is back."""

_log = logging.getLogger(__name__)

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_FORBIDDEN: Final = re.compile(r"[\r\n\0]")
_COMMENT: Final = b":\n\n"
_FAREWELL_SECONDS: Final = 1.0


class _Stalled(Exception):
    """The reader took nothing for too long."""


@dataclass(frozen=True, slots=True)
class Message:
    """One event on the wire.

    Raises:
        ValueError: `id` or `event` holds a line end or NUL, which would forge a field.
    """

    data: str | None = None
    """Any text; line ends arrive as LF, since the format has no other. `None`: no data line, so
    that the reader moves its cursor and dispatches nothing."""
    id: str | None = None
    event: str | None = None
    retry: int | None = None
    """Milliseconds."""

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("event", self.event)):
            if value is not None and _FORBIDDEN.search(value):
                raise ValueError(f"an SSE {name} cannot hold line ends or NUL: {value!r}")

    def encode(self) -> bytes:
        """Return the bytes of the message, its closing blank line included."""
        lines: list[str] = []
        if self.retry is not None:
            lines.append(f"retry: {self.retry}")
        if self.event is not None:
            lines.append(f"event: {self.event}")
        if self.id is not None:
            lines.append(f"id: {self.id}")
        if self.data is not None:
            lines += [f"data: {line}" for line in _LINE_END.split(self.data)]
        return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")


class Streams:
    """All open streams: their number is bounded, and they can be sent home together."""

    def __init__(self, limit: int = MAX_STREAMS) -> None:
        self._limit = limit
        self._open: set[asyncio.Future[str]] = set()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def seat(self) -> Iterator[asyncio.Future[str]]:
        """Take a place; the future is set to the farewell when the stream has to end.

        Raises:
            Unavailable: every place is taken.
        """
        if len(self._open) >= self._limit:
            raise Unavailable(
                f"{self._limit} live views are already open; close one and try again",
                retry_after=5,
            )
        farewell: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open.add(farewell)
        try:
            yield farewell
        finally:
            self._open.discard(farewell)
            farewell.cancel()

    def close(self, farewell: str = BYE) -> None:
        """End every stream with an event of this name; new ones may be opened right away."""
        for seat in tuple(self._open):
            if not seat.done():
                seat.set_result(farewell)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a stream behaves beside its messages."""

    retry: int | None = RETRY
    """Milliseconds told at the start, `None` for nothing."""
    heartbeat: float | None = HEARTBEAT
    """Seconds of silence before a comment, `None` for never."""
    farewell: bool = True
    """Send an event when the stream ends."""
    stalled: float = STALLED
    """Seconds that one write may wait for the reader."""


PAGE: Final = Manner()
"""For our pages."""

BARE: Final = Manner(retry=None, heartbeat=QUIET, farewell=False)
"""Messages as ADK's `/run_sse` frames them, and comments while an agent is silent: adk-web reads
only lines that begin with `data:` (adk-web 1.5)."""


class EventStream(Response):
    """The response. The source is closed whichever way the stream ends."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        source: AsyncGenerator[Message, None],
        *,
        streams: Streams,
        manner: Manner = PAGE,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        self._streams = streams
        self._manner = manner
        self.status_code = 200
        self.background = None
        self.init_headers({**_HEADERS, **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the source ends, the reader leaves or stalls, or the seat is called in.

        Raises:
            Unavailable: every place is taken; nothing was sent.
        """
        with self._streams.seat() as farewell:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            writer = asyncio.create_task(self._write(send, farewell), name="sse writer")
            reader = asyncio.create_task(disconnected(receive), name="sse reader")
            try:
                await self._until_over(writer, reader, farewell)
            finally:
                await stop(writer, reader)
        if not writer.cancelled():
            self._report(writer.exception())

    def _report(self, problem: BaseException | None) -> None:
        if isinstance(problem, _Stalled):
            _log.info("a stream was dropped: its reader took nothing for a while")
        elif problem is not None:
            raise problem

    async def _until_over(
        self,
        writer: asyncio.Task[None],
        reader: asyncio.Task[None],
        farewell: asyncio.Future[str],
    ) -> None:
        waiting: set[asyncio.Future[Any]] = {writer, reader, farewell}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if farewell.done() and not reader.done():
            # A reader that takes nothing must not hold up the one who asked to close.
            await asyncio.wait({writer, reader}, timeout=_FAREWELL_SECONDS)

    async def _write(self, send: Send, farewell: asyncio.Future[str]) -> None:
        manner = self._manner
        opening = b"" if manner.retry is None else Message(retry=manner.retry).encode()
        await self._send(send, opening)
        async with aclosing(_paced(self._source, farewell, manner.heartbeat)) as chunks:
            async for chunk in chunks:
                await self._send(send, chunk)
        if manner.farewell:
            name = farewell.result() if farewell.done() else BYE
            await self._send(send, Message("", event=name).encode())
        await self._send(send, b"", more=False)

    async def _send(self, send: Send, body: bytes, *, more: bool = True) -> None:
        try:
            async with asyncio.timeout(self._manner.stalled):
                await send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError as error:
            raise _Stalled from error


_HEADERS: Final[Mapping[str, str]] = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


def stream_response(
    source: AsyncGenerator[Message, None],
    *,
    streams: Streams,
    manner: Manner = PAGE,
    headers: Mapping[str, str] | None = None,
) -> EventStream:
    """Answer with a stream of messages from `source`."""
    return EventStream(source, streams=streams, manner=manner, headers=headers)


async def _paced(
    source: AsyncGenerator[Message, None],
    farewell: asyncio.Future[str],
    heartbeat: float | None,
) -> AsyncGenerator[bytes, None]:
    """Yield encoded messages, and comments in silence, until the source or the seat ends."""
    step = asyncio.create_task(_next(source), name="sse source")
    try:
        while True:
            waiting: set[asyncio.Future[Any]] = {step, farewell}
            await asyncio.wait(waiting, timeout=heartbeat, return_when=asyncio.FIRST_COMPLETED)
            if step.done() and (message := step.result()) is not None:
                yield message.encode()
                step = asyncio.create_task(_next(source), name="sse source")
            elif step.done() or farewell.done():
                return
            else:
                yield _COMMENT
    finally:
        await stop(step)
        await source.aclose()


async def _next(source: AsyncGenerator[Message, None]) -> Message | None:
    return await anext(source, None)
