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
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from devui.web.errors import Unavailable

T = TypeVar("T")


async def disconnection(receive: Receive) -> None:
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
    leaving = asyncio.create_task(disconnection(request.receive), name="client")
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
            body = _Body(send)
            source = asyncio.create_task(self._pass_on(body, farewell), name="sse source")
            pulse = asyncio.create_task(self._keep_alive(body), name="sse pulse")
            reader = asyncio.create_task(disconnection(receive), name="sse reader")
            is_cut = True
            try:
                ends: set[asyncio.Future[Any]] = {source, pulse, reader, farewell}
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                is_taken = not farewell.done() or await body.is_taken(_FAREWELL_SECONDS)
                is_cut = reader.done() or pulse.done() or not is_taken
                is_cut = is_cut or (source.done() and source.cancelled())
            finally:
                await stop(source, pulse, reader)
            problems = [_problem(task) for task in (source, pulse, reader)]
            if not is_cut and not any(problems):
                await self._finish(body, farewell)
        for problem in filter(None, problems):
            if not isinstance(problem, _Stalled):
                raise problem
            _log.info("a stream was dropped: its reader took nothing for a while")

    async def _pass_on(self, body: "_Body", farewell: asyncio.Future[str]) -> None:
        retry = self._manner.retry
        await body.write(b"" if retry is None else Message(retry=retry).encode())
        async with aclosing(self._source) as source:
            async for message in source:
                await body.write(message.encode())
                if farewell.done():
                    return

    async def _keep_alive(self, body: "_Body") -> None:
        """Write a comment in each silence; raises _Stalled if the reader takes nothing.

        One task for the whole stream, since a timer for each message costs as much as the message.
        """
        silence, stalled = self._manner.heartbeat, self._manner.stalled
        while True:
            seconds = body.seconds_left(silence, stalled)
            if seconds > 0:
                await asyncio.sleep(seconds)
            elif body.is_writing:
                raise _Stalled
            else:
                await _within(stalled, body.write(_COMMENT))

    async def _finish(self, body: "_Body", farewell: asyncio.Future[str]) -> None:
        """Say goodbye. A reader that takes nothing must not hold up who asked to close."""
        name = farewell.result() if farewell.done() else BYE
        last = Message("", event=name).encode() if self._manner.farewell else b""
        seconds = _FAREWELL_SECONDS if farewell.done() else self._manner.stalled
        with suppress(_Stalled):
            await _within(seconds, body.write(last, more=False))


def _problem(task: asyncio.Task[None]) -> BaseException | None:
    return None if task.cancelled() else task.exception()


async def _within(seconds: float, write: Coroutine[Any, Any, None]) -> None:
    """Raises _Stalled if a write takes longer."""
    try:
        async with asyncio.timeout(seconds):
            await write
    except TimeoutError as error:
        raise _Stalled from error


class _Body:
    """The body of a response: it takes one chunk at a time, and knows since when it is silent, or
    waits for its reader.
    """

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
        """Send a chunk; waits as long as the reader takes none."""
        async with self._turn:
            self._since = self._clock()
            await self._send({"type": "http.response.body", "body": chunk, "more_body": more})
            self._since = self._clock()

    async def is_taken(self, seconds: float) -> bool:
        """Whether the reader has taken everything, or does so in so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds), self._turn:
                return True
        return False

    def seconds_left(self, silence: float | None, stalled: float) -> float:
        """Until there was silence, or a write has waited, for so long; at most `stalled`."""
        limit = stalled if self.is_writing else silence
        if limit is None:
            return stalled
        return min(self._since + limit - self._clock(), stalled)


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
