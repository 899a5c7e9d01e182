"""The HTTP server: uvicorn with the settings of a local tool, and a bounded shutdown (R11, R56).

uvicorn waits for running responses before it tells the application to stop, so one open event
stream would keep the process alive forever. Code that keeps streams open registers a hook here, and
the hooks run first. The first Ctrl-C shuts down in order; the second exits immediately, which loses
nothing, because everything a page has shown was committed before.
"""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from devui.web.lazy_modules import LazyModule

Hook = Callable[[], Awaitable[None]]
"""Called once when the server is about to stop."""

HOOK_SECONDS: Final = 2.0
"""How long one hook may take before the next one runs."""

GRACE_SECONDS: Final = 2
"""How long running responses may take after the hooks."""

HEADER_BYTES: Final = 32_768
"""The maximum size of a request's head."""

_KEEP_ALIVE_SECONDS: Final = 30
_web_sockets: Any = LazyModule("uvicorn.protocols.websockets.websockets_sansio_impl").call(
    "WebSocketsSansIOProtocol"
)
"""The WebSocket protocol, loaded with the first WebSocket, so that clients learn why they are
refused."""
_log = logging.getLogger(__name__)


def settings(app: ASGIApp) -> uvicorn.Config:
    """Return uvicorn's settings for `app`; sockets are handed to `Server.serve`."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws=_web_sockets,
        lifespan="on",
        log_config=None,
        access_log=False,  # query strings may hold a sign-in code
        proxy_headers=False,  # on by default, and then any local process may claim any address
        server_header=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


class Server(uvicorn.Server):
    """A server; `serve(sockets=…)` returns after an orderly shutdown."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()
        """Set once the server answers requests."""
        self._hooks: list[Hook] = []

    def before_shutdown(self, hook: Hook) -> None:
        """Run `hook` before waiting for open responses; hooks run in the order of registration."""
        self._hooks.append(hook)

    def leave(self) -> None:
        """Request an orderly shutdown."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and set `ready`."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Run every hook, then let uvicorn wait and stop the application."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(super().shutdown, sockets)
            for hook in reversed(self._hooks):
                stack.push_async_callback(_within_limit, hook)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down in order, or exit immediately on the second Ctrl-C.

        Unlike uvicorn's handler, this doesn't record signals to raise them again: a server that was
        asked to stop and did so exits with code 0.
        """
        if self.should_exit and sig == signal.SIGINT:
            os._exit(128 + sig)
        self.should_exit = True


async def _within_limit(hook: Hook) -> None:
    try:
        async with asyncio.timeout(HOOK_SECONDS):
            await hook()
    except TimeoutError:
        _log.error("a shutdown hook took more than %.0f s and was abandoned", HOOK_SECONDS)
