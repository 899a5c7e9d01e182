"""A server with an endless stream, for tests that shut it down.

It prints its port, and then a line for each step of its shutdown. The response of `/never` never
ends. The argument `stuck` adds a shutdown hook that never returns.
"""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from devui.web.server import Server, settings
from devui.web.sse import AWAY, Message, Streams, stream_response

STREAMS = Streams()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def endless() -> AsyncGenerator[Message, None]:
    yield Message("hello")
    await asyncio.Event().wait()


async def stream(request: Request) -> Response:
    return stream_response(endless(), streams=STREAMS)


async def never(request: Request) -> Response:
    say("asked")
    await asyncio.Event().wait()
    raise AssertionError


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    say("lifespan ended")


async def close_streams() -> None:
    say("hook ran")
    STREAMS.close(AWAY)


async def hang() -> None:
    say("hook hangs")
    await asyncio.Event().wait()


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    app = Starlette(routes=[Route("/stream", stream), Route("/never", never)], lifespan=lifespan)
    server = Server(settings(app))
    server.before_shutdown(close_streams)
    if "stuck" in sys.argv:
        server.before_shutdown(hang)
    say(str(listener.getsockname()[1]))
    await server.serve(sockets=[listener])
    say("served")


asyncio.run(main())
