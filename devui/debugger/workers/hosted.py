"""Workers in a process that belongs to the user: that of `devui.serve` or `devui --in-process`.

The server is connected to it by a socket. It starts a worker by sending the ends of a new wire over
the socket. It forces a worker to end by hanging up; what the worker's code does later is ignored.
"""

import array
import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from io import FileIO

from devui.debugger.workers.process import (
    PATIENT,
    OnOutput,
    Receive,
    ShutdownTimeouts,
    deliver,
    load_codecs,
    pipe,
    reader,
    writer,
)
from devui.settings import Hosted
from devui.wire.engines import EngineChoice
from devui.wire.framing import WireError, read_from_worker
from devui.wire.messages import Shutdown, ToWorker


def on_hang_up(control: int, leave: Callable[[], None]) -> None:
    """Call `leave` when the process at the other end of the socket exits or asks to shut down."""
    loop = asyncio.get_running_loop()

    def on_readable() -> None:
        if not os.read(control, 1):
            loop.remove_reader(control)
            leave()

    loop.add_reader(control, on_readable)


class Host:
    """The user's process, which has the apps as objects."""

    def __init__(self, hosted: Hosted) -> None:
        self._pid = hosted.pid
        self._control = hosted.control

    async def start(self, app: str, engine: EngineChoice) -> "HostedWorker":
        """Start a worker for `app`; its first message is the outcome of loading it.

        Raises OSError if the system has no room for the pipes, or the process is gone.
        """
        await asyncio.to_thread(load_codecs)
        with ExitStack() as theirs, ExitStack() as ours:
            down_read, down_write = pipe(theirs, ours)
            up_read, up_write = pipe(ours, theirs)
            order = json.dumps({"app": app, "engine": engine}).encode()
            self._send(order, [down_read.fileno(), up_write.fileno()])
            down = await writer(down_write)
            ours.pop_all()
        return HostedWorker(self._pid, down, up_read)

    def _send(self, order: bytes, descriptors: list[int]) -> None:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        with socket.socket(fileno=os.dup(self._control)) as control:
            control.sendmsg([order], [rights])


class HostedWorker:
    """The server's end of a wire to the host, with the interface of `WorkerProcess`."""

    last_words = ""
    """Empty: output that bypasses Python's streams goes to the host's own terminal."""
    group: int | None = None
    """None: requests from the host are those of the user, who started it."""

    def __init__(self, pid: int, down: asyncio.StreamWriter, up: FileIO) -> None:
        self.pid = pid
        """The process id of the host."""
        self._down = down
        self._up = up
        self._wire: asyncio.BaseTransport | None = None
        self._end = asyncio.Event()

    async def send(self, message: ToWorker) -> None:
        """Send a message; it is ignored if the worker is already gone.

        Raises FrameTooLarge for a message over the wire's limit.
        """
        await deliver(self._down, message)

    async def listen(self, receive: Receive, on_output: OnOutput) -> int:
        """Pass each message to `receive`, in order, until the worker is gone; return 0."""
        stream, self._wire = await reader(self._up)
        try:
            with contextlib.suppress(WireError):  # nothing more can be read from it
                while (message := await read_from_worker(stream)) is not None:
                    await receive(message)
        finally:
            self.kill()
            self._end.set()
        return 0

    async def stop(self, ladder: ShutdownTimeouts = PATIENT) -> None:
        """Ask the worker to end, and hang up if it doesn't."""
        await self.send(Shutdown())
        try:
            await asyncio.wait_for(self._end.wait(), ladder.leave)
        except TimeoutError:
            self.kill()

    def terminate(self) -> None:
        """Hang up: a part of a process can't be sent a signal."""
        self.kill()

    def kill(self) -> None:
        """Hang up at once."""
        self._down.close()
        if self._wire is not None:
            self._wire.close()
