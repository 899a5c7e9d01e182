"""Workers in a process that is not ours to start or end: of `devui.serve` or `devui --in-process`.

A socket leads there. To start a worker is to send the ends of a new wire over it; to end one by
force is to hang up, and what its code does after that reaches nobody.
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
    Ladder,
    Overhear,
    Receive,
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
    """Call `leave` once the process at the other end of the socket is gone or wants the end."""
    loop = asyncio.get_running_loop()

    def on_readable() -> None:
        if not os.read(control, 1):
            loop.remove_reader(control)
            leave()

    loop.add_reader(control, on_readable)


class Host:
    """The process that has the apps as objects."""

    def __init__(self, hosted: Hosted) -> None:
        self._pid = hosted.pid
        self._control = hosted.control

    async def start(self, app: str, engine: EngineChoice) -> "HostedWorker":
        """A worker for `app`; it reports what came of that as its first message.

        Raises OSError when the system has no room for the pipes, or the process is gone.
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
    """The end here of one wire; has what `WorkerProcess` has."""

    last_words = ""
    """What is written past Python's streams goes to the host's own terminal."""
    group: int | None = None
    """The host's requests are those of the user, who started it."""

    def __init__(self, pid: int, down: asyncio.StreamWriter, up: FileIO) -> None:
        self.pid = pid
        """Of the host."""
        self._down = down
        self._up = up
        self._wire: asyncio.BaseTransport | None = None
        self._end = asyncio.Event()

    async def send(self, message: ToWorker) -> None:
        """Send a message; a worker that is gone already takes it silently.

        Raises FrameTooLarge for a message over the wire's limit.
        """
        await deliver(self._down, message)

    async def listen(self, receive: Receive, overhear: Overhear) -> int:
        """Hand every message to `receive`, in order, until the worker is gone; returns 0."""
        stream, self._wire = await reader(self._up)
        try:
            with contextlib.suppress(WireError):  # nothing more can be read of it
                while (message := await read_from_worker(stream)) is not None:
                    await receive(message)
        finally:
            self.kill()
            self._end.set()
        return 0

    async def stop(self, ladder: Ladder = PATIENT) -> None:
        """End the worker: ask, then hang up."""
        await self.send(Shutdown())
        try:
            await asyncio.wait_for(self._end.wait(), ladder.leave)
        except TimeoutError:
            self.kill()

    def terminate(self) -> None:
        """Hang up: there is no gentle signal for a part of a process."""
        self.kill()

    def kill(self) -> None:
        """Hang up at once."""
        self._down.close()
        if self._wire is not None:
            self._wire.close()
