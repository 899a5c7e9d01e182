"""The wire between server and worker delivers whole messages or fails with a clear error (R53)."""

import asyncio
import contextlib
import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.wire.framing import (
    MAX_FRAME,
    FrameTooLarge,
    WireError,
    for_server,
    for_worker,
    read_from_server,
    read_from_worker,
)
from devui.wire.messages import Append, Output, Partial, Reply, RunEnded, StartRun

pytestmark = pytest.mark.req("R53")

texts = st.text(st.characters(exclude_categories=["Cs"]))


def stream(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


async def received(data: bytes) -> list[object]:
    reader, messages = stream(data), []
    while (message := await read_from_worker(reader)) is not None:
        messages.append(message)
    return messages


@given(run=texts, event=texts, temp=st.none() | texts, number=st.integers(0, 2**53))
def test_messages_from_a_worker_arrive_unchanged(run, event, temp, number):
    sent = [
        Append(id=number, run=run, user="u", session="s", final=True, event=event, temp=temp),
        Partial(run=run, event=event),
        Output(run=None, stream="stdout", text=event, at=1.5),
        RunEnded(run=run, outcome="done"),
    ]
    assert asyncio.run(received(b"".join(map(for_server, sent)))) == sent


@given(message=texts, head=st.integers(0, 2**53))
def test_messages_from_the_server_arrive_unchanged(message, head):
    start = StartRun(
        run="r", user="u", session="s", session_key=1, head=head, shared="{}", message=message
    )
    pipe = io.BytesIO(for_worker(start) + for_worker(Reply(id=1, result=message)))
    assert read_from_server(pipe) == start
    assert read_from_server(pipe) == Reply(id=1, result=message)
    assert read_from_server(pipe) is None


@given(st.binary(max_size=200))
def test_arbitrary_bytes_give_messages_or_a_wire_error(data):
    with contextlib.suppress(WireError):
        asyncio.run(received(data))


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"kind": "nothing"}',
        b'{"kind": "partial"}',
        b'{"kind": "partial", "run": 5, "event": "{}"}',
        b'{"kind": "run_ended", "run": "r", "outcome": "splendid"}',
        b'{"kind": "start_run"}',
        b"\xff\xfe",
    ],
)
def test_json_that_is_not_a_message_is_refused(body):
    with pytest.raises(WireError, match="not a message"):
        asyncio.run(received(struct.pack(">I", len(body)) + body))


def test_a_length_over_the_limit_is_refused_before_anything_is_read():
    with pytest.raises(WireError, match="the limit is"):
        asyncio.run(received(struct.pack(">I", MAX_FRAME + 1)))


def test_a_truncated_message_is_refused():
    whole = for_server(Partial(run="r", event="{}"))
    with pytest.raises(WireError, match="in the middle"):
        asyncio.run(received(whole[:-1]))


def test_a_message_over_the_limit_is_not_sent():
    with pytest.raises(FrameTooLarge, match="keep large data in artifacts"):
        for_server(Partial(run="r", event="x" * MAX_FRAME))
