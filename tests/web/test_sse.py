"""Server-sent events: framing, and the life of a stream."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Send

from devui.web.errors import Unavailable
from devui.web.sse import (
    AWAY,
    BARE,
    BYE,
    PAGE,
    EventStream,
    Message,
    StreamOptions,
    Streams,
    stream_response,
)
from tests.kit.patience import PATIENCE


def read(stream: bytes) -> list[tuple[str, str, str]]:
    """Return a stream's events as (type, data, last id), by the rules of the HTML standard."""
    text = stream.decode("utf-8").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    events, data, kind, last_id = [], [], "", ""
    for line in lines[:-1]:
        name, colon, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                events.append((kind or "message", "\n".join(data), last_id))
            data, kind = [], ""
        elif not name and colon:
            continue
        elif name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id" and "\0" not in value:
            last_id = value
    return events


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


NASTY = st.text(alphabet=st.sampled_from("\r\n\0\ufeff\u2028\x85: adteivn😀<"), max_size=30)
ANY = st.text(st.characters(blacklist_categories=["Cs"]), max_size=60)
FIELDS = ["data: x", "id: 9", "event: bye", "retry: 1", ":comment", "", "\n\nid: 9\n\n"]


@pytest.mark.req("R59")
@given(st.lists(NASTY | ANY | st.sampled_from(FIELDS), min_size=1, max_size=5))
def test_any_text_round_trips_and_forges_no_field(texts: list[str]) -> None:
    messages = [Message(text, id=str(n)) for n, text in enumerate(texts)]
    stream = Message(retry=1).encode() + b"".join(message.encode() for message in messages)
    assert read(stream) == [("message", normal(text), str(n)) for n, text in enumerate(texts)]


@pytest.mark.req("R59")
def test_a_message_is_encoded_line_by_line() -> None:
    message = Message("a\r\nb", id="7", event="bye", retry=1000)
    assert message.encode() == b"retry: 1000\nevent: bye\nid: 7\ndata: a\ndata: b\n\n"
    assert Message("").encode() == b"data: \n\n"
    assert Message(id="8").encode() == b"id: 8\n\n"
    assert Message('{"a":1}').encode() == b'data: {"a":1}\n\n'


@pytest.mark.req("R59")
@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b"])
def test_ids_and_names_cannot_contain_line_ends(text: str) -> None:
    with pytest.raises(ValueError, match="line ends"):
        Message("x", id=text)
    with pytest.raises(ValueError, match="line ends"):
        Message("x", event=text)


def test_a_lone_surrogate_is_replaced() -> None:
    assert read(Message("a\ud800b").encode()) == [("message", "a?b", "")]


class Reader:
    """An ASGI client that collects what is sent, and disconnects when told to."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = asyncio.Event()
        self.stuck = False
        self.changed = asyncio.Condition()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        async with self.changed:
            self.changed.notify_all()
        if self.stuck:
            await asyncio.Event().wait()

    def sticking_at(self, text: bytes) -> Send:
        """Return a `send` that never returns from the message that contains `text`."""

        async def send(message: Any) -> None:
            self.stuck = text in message.get("body", b"")
            await self.send(message)

        return send

    async def until(self, text: bytes) -> None:
        async with asyncio.timeout(PATIENCE), self.changed:
            await self.changed.wait_for(lambda: text in self.body)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    @property
    def ended(self) -> bool:
        return self.sent[-1].get("more_body") is False


class Source:
    """A source that sends the given texts and records that it was closed."""

    def __init__(self, *texts: str, endless: bool = True) -> None:
        self.texts = texts
        self.endless = endless
        self.closed = asyncio.Event()

    async def messages(self) -> AsyncGenerator[Message, None]:
        try:
            for text in self.texts:
                yield Message(text)
            if self.endless:
                await asyncio.Event().wait()
        finally:
            self.closed.set()


@asynccontextmanager
async def opened(response: EventStream, reader: Reader) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(response({"type": "http"}, reader.receive, reader.send))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


@pytest.mark.req("R62")
async def test_the_first_bytes_come_at_once_with_the_retry_time() -> None:
    reader, source = Reader(), Source()
    async with opened(stream_response(source.messages(), streams=Streams()), reader):
        await reader.until(b"retry: 1000\n\n")
    headers = dict(reader.sent[0]["headers"])
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert headers[b"x-accel-buffering"] == b"no"
    assert headers[b"cache-control"] == b"no-store"
    assert b"content-encoding" not in headers
    assert (PAGE.heartbeat, PAGE.retry) == (15, 1000)


@pytest.mark.req("R62")
async def test_a_stream_says_bye_when_its_source_ends() -> None:
    reader, source, streams = Reader(), Source("a", "b", endless=False), Streams()
    async with opened(stream_response(source.messages(), streams=streams), reader) as task:
        await asyncio.wait_for(task, PATIENCE)
    assert [event[:2] for event in read(reader.body)] == [
        ("message", "a"),
        ("message", "b"),
        (BYE, ""),
    ]
    assert reader.ended
    assert source.closed.is_set()
    assert len(streams) == 0


@pytest.mark.req("R62")
async def test_comments_are_sent_while_the_source_is_silent() -> None:
    reader, source = Reader(), Source("a")
    options = StreamOptions(retry=None, heartbeat=0.001)
    stream = stream_response(source.messages(), streams=Streams(), options=options)
    async with opened(stream, reader):
        await reader.until(b"data: a\n\n:\n\n:\n\n:\n\n")


@pytest.mark.req("R62")
async def test_a_disconnect_ends_the_stream_and_closes_the_source() -> None:
    reader, source, streams = Reader(), Source("a"), Streams()
    async with opened(stream_response(source.messages(), streams=streams), reader) as task:
        await reader.until(b"data: a")
        reader.gone.set()
        await asyncio.wait_for(task, PATIENCE)
    assert source.closed.is_set()
    assert not reader.ended
    assert len(streams) == 0


@pytest.mark.req("R56")
async def test_closing_the_streams_ends_all_of_them() -> None:
    readers, streams = [Reader() for _ in range(3)], Streams()
    tasks = [
        asyncio.create_task(
            stream_response(Source("a").messages(), streams=streams)(
                {"type": "http"}, reader.receive, reader.send
            )
        )
        for reader in readers
    ]
    for reader in readers:
        await reader.until(b"data: a")
    assert len(streams) == 3
    streams.close(AWAY)
    await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE)
    for reader in readers:
        assert read(reader.body)[-1][:2] == (AWAY, "")
        assert reader.ended
    assert len(streams) == 0


@pytest.mark.req("R60")
async def test_a_stalled_reader_is_dropped() -> None:
    reader, source, streams = Reader(), Source("a"), Streams()
    options = StreamOptions(heartbeat=None, stalled=0.01)
    response = EventStream(source.messages(), streams=streams, options=options)
    send = reader.sticking_at(b"data: a")
    await asyncio.wait_for(response({"type": "http"}, reader.receive, send), PATIENCE)
    assert source.closed.is_set()
    assert not reader.ended
    assert len(streams) == 0


@pytest.mark.req("R56")
async def test_a_stuck_reader_does_not_block_closing() -> None:
    reader, source, streams = Reader(), Source("a"), Streams()
    response = stream_response(source.messages(), streams=streams)
    send = reader.sticking_at(b"data: a")
    task = asyncio.create_task(response({"type": "http"}, reader.receive, send))
    await reader.until(b"data: a")
    streams.close()
    await asyncio.wait_for(task, PATIENCE)
    assert source.closed.is_set()
    assert len(streams) == 0


@pytest.mark.req("R62")
async def test_the_number_of_streams_is_limited_until_one_ends() -> None:
    streams, reader = Streams(limit=1), Reader()
    async with opened(stream_response(Source("a").messages(), streams=streams), reader) as task:
        await reader.until(b"data: a")
        refused = Source()
        with pytest.raises(Unavailable) as error:
            await stream_response(refused.messages(), streams=streams)(
                {"type": "http"}, reader.receive, reader.send
            )
        assert error.value.headers == {"Retry-After": "5"}
        reader.gone.set()
        await asyncio.wait_for(task, PATIENCE)
    again = Source("b", endless=False)
    other = Reader()
    await stream_response(again.messages(), streams=streams)(
        {"type": "http"}, other.receive, other.send
    )
    assert other.ended


async def test_an_error_from_the_source_is_raised() -> None:
    async def failing() -> AsyncGenerator[Message, None]:
        yield Message("a")
        raise LookupError("gone")

    reader, streams = Reader(), Streams()
    with pytest.raises(LookupError, match="gone"):
        await stream_response(failing(), streams=streams)(
            {"type": "http"}, reader.receive, reader.send
        )
    assert not reader.ended
    assert len(streams) == 0


async def test_a_bare_stream_has_only_messages() -> None:
    reader, source = Reader(), Source('{"a":1}', '{"b":2}', endless=False)
    stream = stream_response(source.messages(), streams=Streams(), options=BARE)
    async with opened(stream, reader) as task:
        await asyncio.wait_for(task, PATIENCE)
    assert reader.body == b'data: {"a":1}\n\ndata: {"b":2}\n\n'
    assert [m["body"] for m in reader.sent if m.get("body")] == [
        b'data: {"a":1}\n\n',
        b'data: {"b":2}\n\n',
    ]


async def test_cancelling_the_request_closes_the_source() -> None:
    reader, source, streams = Reader(), Source("a"), Streams()
    async with opened(stream_response(source.messages(), streams=streams), reader) as task:
        await reader.until(b"data: a")
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
    assert source.closed.is_set()
    assert len(streams) == 0


async def test_a_cancelled_source_leaves_no_tasks_running() -> None:
    async def cancelled() -> AsyncGenerator[Message, None]:
        yield Message("a")
        waiting = asyncio.get_running_loop().create_future()
        waiting.cancel()
        await waiting

    reader, before = Reader(), asyncio.all_tasks()
    response = stream_response(cancelled(), streams=Streams())
    await response({"type": "http"}, reader.receive, reader.send)
    assert not reader.ended
    assert asyncio.all_tasks() == before


async def test_closing_finishes_the_message_being_written() -> None:
    reader, streams = Reader(), Streams()
    begun, may_continue = asyncio.Event(), asyncio.Event()

    async def slowly(message: Any) -> None:
        if b"data: a" in message.get("body", b""):
            begun.set()
            await may_continue.wait()
        await reader.send(message)

    response = stream_response(Source("a", "b").messages(), streams=streams)
    task = asyncio.create_task(response({"type": "http"}, reader.receive, slowly))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    streams.close()
    await asyncio.sleep(0)
    may_continue.set()
    await asyncio.wait_for(task, PATIENCE)
    assert [data for _, data, _ in read(reader.body)] == ["a", ""]
    assert reader.ended
