"""The server: its settings and its shutdown."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from devui.web.server import HEADER_BYTES, Server, settings
from tests.kit.patience import PATIENCE
from tests.web.edge_kit import BEARER, Site, exchange, free_socket, running

PROGRAM = Path(__file__).with_name("endless_server.py")
ROOT = Path(__file__).parent.parent.parent


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that is never called."""


@pytest.mark.req("R11")
def test_the_server_has_the_required_settings() -> None:
    config = settings(nothing)
    assert config.proxy_headers is False
    assert config.server_header is False
    assert config.access_log is False
    assert config.http == "h11"
    assert callable(config.ws), "it is loaded with the first socket, which the guard judges"
    assert config.timeout_graceful_shutdown == 2
    assert config.h11_max_incomplete_event_size == HEADER_BYTES


@pytest.mark.req("R11")
async def test_forwarded_headers_are_ignored() -> None:
    listener = free_socket()
    site = Site(port=listener.getsockname()[1])
    host = f"localhost:{site.port}".encode()
    forged = b"X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
    token = BEARER["authorization"].encode()
    request = b"GET / HTTP/1.1\r\nHost: " + host + b"\r\nAuthorization: " + token + b"\r\n" + forged
    async with running(site.app, listener):
        answer = await exchange(site.port, request + b"Connection: close\r\n\r\n")
    assert b'"scheme":"http"' in answer
    assert b'"host":"' + host in answer
    assert b"\r\nserver:" not in answer.lower()


@pytest.mark.req("R11")
async def test_an_oversized_head_is_refused_and_a_large_one_is_served() -> None:
    listener = free_socket()
    site = Site(port=listener.getsockname()[1])
    host = f"Host: localhost:{site.port}\r\n".encode()
    ask = b"GET /health HTTP/1.1\r\n" + host
    async with running(site.app, listener):
        _, slow = await asyncio.open_connection("127.0.0.1", site.port)
        slow.write(b"GET /health HTTP/1.1\r\nHo")
        await slow.drain()
        refused = await exchange(site.port, ask + b"X: " + b"x" * HEADER_BYTES)
        large = await exchange(
            site.port, ask + b"X: " + b"x" * 20_000 + b"\r\nConnection: close\r\n\r\n"
        )
        slow.close()
        await slow.wait_closed()
    assert refused.startswith(b"HTTP/1.1 400")
    assert large.startswith(b"HTTP/1.1 200")


class Program:
    """The program under test and the lines it prints."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)).decode().strip()

    async def end(self) -> tuple[int, str]:
        out, _ = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        assert self.process.returncode is not None
        return self.process.returncode, out.decode()


@asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[Program]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), *arguments),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def connect(port: int, path: str) -> Any:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    await writer.drain()
    return reader, writer


@pytest.mark.req("R56")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_one_signal_shuts_the_server_down_in_order_despite_open_streams(
    number: signal.Signals,
) -> None:
    async with program() as running_program:
        port = int(await running_program.line())
        readers = [await connect(port, "/stream") for _ in range(10)]
        for reader, _ in readers:
            await asyncio.wait_for(reader.readuntil(b"data: hello"), PATIENCE)
        running_program.process.send_signal(number)
        ends = [await asyncio.wait_for(reader.read(), PATIENCE) for reader, _ in readers]
        code, output = await running_program.end()
        for _, writer in readers:
            writer.close()
    assert code == 0
    assert output.split("\n") == ["hook ran", "lifespan ended", "served", ""]
    assert all(b"event: away" in end and end.endswith(b"0\r\n\r\n") for end in ends)


@pytest.mark.req("R56")
async def test_a_stuck_hook_and_a_stuck_response_do_not_prevent_shutdown() -> None:
    async with program("stuck") as running_program:
        port = int(await running_program.line())
        _, writer = await connect(port, "/never")
        assert await running_program.line() == "asked"
        running_program.process.send_signal(signal.SIGTERM)
        code, output = await running_program.end()
        writer.close()
    assert code == 0
    assert output.split("\n") == ["hook ran", "hook hangs", "lifespan ended", "served", ""]


@pytest.mark.req("R56")
async def test_a_second_interrupt_ends_the_server_at_once() -> None:
    async with program("stuck") as running_program:
        port = int(await running_program.line())
        _, writer = await connect(port, "/never")
        assert await running_program.line() == "asked"
        running_program.process.send_signal(signal.SIGINT)
        assert await running_program.line() == "hook ran"
        assert await running_program.line() == "hook hangs"
        running_program.process.send_signal(signal.SIGINT)
        code, output = await running_program.end()
        writer.close()
    assert code == 128 + signal.SIGINT
    assert "lifespan ended" not in output


@pytest.mark.req("R56")
async def test_shutdown_hooks_run_in_order_even_if_one_fails() -> None:
    listener = free_socket()
    site, ran = Site(port=listener.getsockname()[1]), []

    async def first() -> None:
        ran.append("first")
        raise LookupError("failed")

    async def second() -> None:
        ran.append("second")

    server = Server(settings(site.app))
    server.before_shutdown(first)
    server.before_shutdown(second)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await server.ready.wait()
    server.should_exit = True
    with pytest.raises(LookupError, match="failed"):
        await task
    assert ran == ["first", "second"]
    assert server.lifespan.shutdown_event.is_set()
