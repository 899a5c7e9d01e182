"""Server-sent events: the encoder (R59), and a response that keeps a stream healthy (R62).

A stream tells its reader when to reconnect (`retry`) and sends a comment every fifteen seconds to
show that it is alive. It ends when the reader leaves or takes nothing for too long, or when the
server stops. It stores nothing: each durable message carries its seq in the journal as `id`, and
the caller starts the source after the offset that the reader sent.
"""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from devui.web.errors import Unavailable

T = TypeVar("T")


async def disconnection(receive: Receive) -> None:
    """Return when the client has disconnected; ignore whatever it sends until then."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def stop(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and wait until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Do the work of a request whose body has been read, and cancel it if the client disconnects.

    Raises what the work raises, and CancelledError if the client has disconnected.
    """
    working = asyncio.create_task(work, name=f"work for {request.url.path}")
    leaving = asyncio.create_task(disconnection(request.receive), name="client")
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await stop(working, leaving)
    return working.result()


MEDIA_TYPE: Final = "text/event-stream; charset=utf-8"

MAX_STREAMS: Final = 128
"""How many streams may be open, over all browsers and programs (R62): 64 for the runs that
`/run_sse` may have, and as many to watch."""

HEARTBEAT: Final = 15.0
"""Seconds of silence after which a comment is sent."""

RETRY: Final = 1000
"""Milliseconds after which an EventSource reconnects."""

QUIET: Final = 4.0
"""Seconds of silence on `/run_sse` after which a comment is sent: httpx, and with it many scripts,
times out after five."""

STALLED: Final = 20.0
"""Seconds that a write may wait for its reader before the stream is dropped (R60)."""

BYE: Final = "bye"
"""Event name: this stream is over for good; `hx-sse:close="bye"` keeps htmx from reconnecting."""

AWAY: Final = "away"
"""Event name: the server is stopping; a reader that gets no `bye` retries until it is back."""

_log = logging.getLogger(__name__)

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_FORBIDDEN: Final = re.compile(r"[\r\n\0]")
_COMMENT: Final = b":\n\n"
_CLOSING_SECONDS: Final = 1.0


class _ReaderStalled(Exception):
    """The reader took nothing for too long."""


@dataclass(frozen=True, slots=True)
class Message:
    """One event on the wire.

    Raises:
        ValueError: `id` or `event` holds a line end or NUL, which would forge a field.
    """

    data: str | None = None
    """Any text; line ends arrive as LF, the only one in the format. With None there is no data
    line, so the reader moves its offset and dispatches nothing."""
    id: str | None = None
    event: str | None = None
    retry: int | None = None
    """The reconnection time in milliseconds."""

    def __post_init__(self) -> None:
        for name, value in (("id", self.id), ("event", self.event)):
            if value is not None and _FORBIDDEN.search(value):
                raise ValueError(f"an SSE {name} cannot hold line ends or NUL: {value!r}")

    def encode(self) -> bytes:
        """Return the bytes of the message, including the blank line that ends it."""
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
    """All open streams: their number is limited, and they can be closed together."""

    def __init__(self, limit: int = MAX_STREAMS) -> None:
        self._limit = limit
        self._open: set[asyncio.Future[str]] = set()

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def seat(self) -> Iterator[asyncio.Future[str]]:
        """Take a seat; the future is set to its closing event when the stream has to end.

        Raises:
            Unavailable: Every seat is taken.
        """
        if len(self._open) >= self._limit:
            raise Unavailable(
                f"{self._limit} live views are already open; close one and try again",
                retry_after=5,
            )
        closing: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open.add(closing)
        try:
            yield closing
        finally:
            self._open.discard(closing)
            closing.cancel()

    def close(self, event: str = BYE) -> None:
        """End every stream with an event of this name; new ones can be opened right away."""
        for seat in tuple(self._open):
            if not seat.done():
                seat.set_result(event)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream behaves apart from its messages."""

    retry: int | None = RETRY
    """The reconnection time sent at the start, in milliseconds; None to send none."""
    heartbeat: float | None = HEARTBEAT
    """Seconds of silence before a comment is sent; None for no comments."""
    sends_closing_event: bool = True
    """Whether to send an event when the stream ends."""
    stalled: float = STALLED
    """Seconds that one write may wait for the reader."""


PAGE: Final = StreamOptions()
"""The options of the streams of our pages."""

BARE: Final = StreamOptions(retry=None, heartbeat=QUIET, sends_closing_event=False)
"""Messages framed as on ADK's `/run_sse`, and comments while an agent is silent: adk-web reads only
lines that begin with `data:` (adk-web 1.5)."""


class EventStream(Response):
    """A response that streams a source, which is closed however the stream ends."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        source: AsyncGenerator[Message, None],
        *,
        streams: Streams,
        options: StreamOptions = PAGE,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._source = source
        self._streams = streams
        self._options = options
        self.status_code = 200
        self.background = None
        self.init_headers({**_HEADERS, **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the source ends, the reader leaves or stalls, or the stream is told to end.

        Raises:
            Unavailable: Every seat is taken; nothing was sent.
        """
        with self._streams.seat() as closing:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            body = _Body(send)
            source = asyncio.create_task(self._pass_on(body, closing), name="sse source")
            pulse = asyncio.create_task(self._keep_alive(body), name="sse pulse")
            reader = asyncio.create_task(disconnection(receive), name="sse reader")
            is_cut = True
            try:
                ends: set[asyncio.Future[Any]] = {source, pulse, reader, closing}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                is_taken = not closing.done() or await body.is_taken(_CLOSING_SECONDS)
                is_cut = reader.done() or pulse.done() or not is_taken
                is_cut = is_cut or (source.done() and source.cancelled())
            finally:
                await stop(source, pulse, reader)
            problems = [_problem(task) for task in (source, pulse, reader)]
            if not is_cut and not any(problems):
                await self._finish(body, closing)
        for problem in filter(None, problems):
            if not isinstance(problem, _ReaderStalled):
                raise problem
            _log.info("a stream was dropped: its reader took nothing for a while")

    async def _pass_on(self, body: "_Body", closing: asyncio.Future[str]) -> None:
        retry = self._options.retry
        await body.write(b"" if retry is None else Message(retry=retry).encode())
        async with aclosing(self._source) as source:
            async for message in source:
                await body.write(message.encode())
                if closing.done():
                    return

    async def _keep_alive(self, body: "_Body") -> None:
        """Write a comment during each silence; raise _ReaderStalled if the reader takes nothing.

        One task serves the whole stream, since a timer per message would cost as much as the
        message.
        """
        silence, stalled = self._options.heartbeat, self._options.stalled
        while True:
            seconds = body.seconds_left(silence, stalled)
            if seconds > 0:
                await asyncio.sleep(seconds)
            elif body.is_writing:
                raise _ReaderStalled
            else:
                await _within(stalled, body.write(_COMMENT))

    async def _finish(self, body: "_Body", closing: asyncio.Future[str]) -> None:
        """Send the closing event. A reader that takes nothing must not hold up closing."""
        name = closing.result() if closing.done() else BYE
        last = Message("", event=name).encode() if self._options.sends_closing_event else b""
        seconds = _CLOSING_SECONDS if closing.done() else self._options.stalled
        with suppress(_ReaderStalled):
            await _within(seconds, body.write(last, more=False))


def _problem(task: asyncio.Task[None]) -> BaseException | None:
    return None if task.cancelled() else task.exception()


async def _within(seconds: float, write: Coroutine[Any, Any, None]) -> None:
    """Await a write; raise _ReaderStalled if it takes longer than `seconds`."""
    try:
        async with asyncio.timeout(seconds):
            await write
    except TimeoutError as error:
        raise _ReaderStalled from error


class _Body:
    """The body of a response: it sends one chunk at a time, and knows how long it has been silent
    or waiting for its reader."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._clock = asyncio.get_running_loop().time
        self._since = self._clock()
        self._turn = asyncio.Lock()

    @property
    def is_writing(self) -> bool:
        """Whether the reader hasn't taken the last chunk yet."""
        return self._turn.locked()

    async def write(self, chunk: bytes, *, more: bool = True) -> None:
        """Send a chunk, waiting for the previous one to be taken."""
        async with self._turn:
            self._since = self._clock()
            await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
            self._since = self._clock()

    async def is_taken(self, seconds: float) -> bool:
        """Return whether the reader takes everything within so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._turn:
                return True
        return False

    def seconds_left(self, silence: float | None, stalled: float) -> float:
        """Return the seconds left until the silence, or the waiting write, is too long; at most
        `stalled`."""
        limit = stalled if self.is_writing else silence
        if limit is None:
            return stalled
        return min(self._since + limit - self._clock(), stalled)


_HEADERS: Final[Mapping[str, str]] = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}


def stream_response(
    source: AsyncGenerator[Message, None],
    *,
    streams: Streams,
    options: StreamOptions = PAGE,
    headers: Mapping[str, str] | None = None,
) -> EventStream:
    """Return a response that streams the messages of `source`."""
    return EventStream(source, streams=streams, options=options, headers=headers)
