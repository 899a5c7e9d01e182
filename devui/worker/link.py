"""The worker's end of the wire.

Reading has a thread of its own, so that a lost server is noticed even while agent code blocks the
event loop. Writing is a plain blocking write under a lock: any thread may send, and a server that
doesn't read slows the agent down instead of filling memory.
"""

import asyncio
import contextlib
import itertools
import os
import selectors
import threading
from collections.abc import Callable, Iterable
from json import loads  # by name: an agent that replaces json.loads must not silence the wire
from typing import Any, BinaryIO, Final, NoReturn

from devui.wire.framing import for_server, read_from_server
from devui.wire.inspection import Inspection, InspectRun
from devui.wire.messages import Failure, Output, Reply, Request, ToServer, ToWorker
from devui.worker.debuggers import leave_alone

_CAME_BACK = 70
"""The exit status of a forked copy that returned from agent code: EX_SOFTWARE."""
_ADVICE = (
    "devui: a process forked by the agent returned from the agent's code and was terminated. "
    "End such processes with os._exit() when their work is done.\n"
)


class WorkerSelector(selectors.DefaultSelector):
    """The selector of the worker's loop; ends the process in a forked copy."""

    def __init__(self) -> None:
        super().__init__()
        self._owner = os.getpid()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for the next events."""
        if os.getpid() != self._owner:
            come_back()
        return super().select(timeout)


def come_back() -> NoReturn:
    """End this process, which is a forked copy of a worker."""
    _write(_ADVICE)
    os._exit(_CAME_BACK)


def say(output: Output) -> None:
    """Write output to stderr when it can't be sent over the wire."""
    _write(f"{output.text}\n")


def let_go(descriptors: Iterable[int], nowhere: int) -> None:
    """Point a forked copy's descriptors to `nowhere`; others still use the numbers."""
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor, inheritable=False)


def _write(text: str) -> None:
    try:
        os.write(2, text.encode(errors="replace"))
    except OSError:  # the agent closed stderr
        return


Receive = Callable[[ToWorker], None]
Inspect = Callable[[InspectRun], Inspection | None]


class RequestRefused(Exception):
    """The server refused a request; `code` is the reason in one word."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.code = failure.code


class InvalidEvent(RequestRefused):
    """Agent code yielded something that isn't an event; its run fails with this error (R53)."""


_REFUSALS: Final = {"invalid_event": InvalidEvent}


class Link:
    """Exchanges messages with the server; `request` waits for the answer."""

    def __init__(self, down: BinaryIO, up: int, loop: asyncio.AbstractEventLoop) -> None:
        self._down = down
        self._up = up
        self._loop = loop
        self._writing = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._inspect: Inspect = _ignore
        self._severed = False

    def start(self, receive: Receive, on_loss: Callable[[], None]) -> None:
        """Start reading: `receive` is called in the loop, `on_loss` in the reading thread."""
        thread = threading.Thread(
            target=self._read, args=(receive, on_loss), name="devui-link", daemon=True
        )
        leave_alone(thread).start()

    def on_inspect(self, inspect: Inspect) -> None:
        """Set the callback for `InspectRun`, for the reading thread: the loop may be blocked."""
        self._inspect = inspect

    def send(self, message: ToServer) -> None:
        """Write one message; return when the system has accepted it. Any thread may call this.

        Raises FrameTooLarge for a message over the limit, and BrokenPipeError without a server.
        """
        if self._severed:
            come_back()
        frame = memoryview(for_server(message))
        with self._writing:
            while frame:
                frame = frame[os.write(self._up, frame) :]

    def sever(self) -> None:
        """In a forked copy of the worker: end the process at its first `send`."""
        self._severed = True

    async def request(self, make: Callable[[int], Request]) -> Any:
        """Send the message that `make` builds from a fresh id, and return the decoded result.

        Raises Refused with the server's reason.
        """
        number = next(self._ids)
        future: asyncio.Future[Any] = self._loop.create_future()
        self._waiting[number] = future
        try:
            self.send(make(number))
            return await future
        finally:
            self._waiting.pop(number, None)

    def _read(self, receive: Receive, on_loss: Callable[[], None]) -> None:
        while (message := read_from_server(self._down)) is not None:
            if isinstance(message, Reply):
                self._loop.call_soon_threadsafe(self._answer, message)
            elif isinstance(message, InspectRun):
                self._answer_inspection(message)
            else:
                self._loop.call_soon_threadsafe(receive, message)
        on_loss()

    def _answer_inspection(self, message: InspectRun) -> None:
        answer = self._inspect(message)
        if answer is not None:
            with contextlib.suppress(BrokenPipeError):  # the reading thread notices a lost server
                self.send(answer)

    def _answer(self, reply: Reply) -> None:
        future = self._waiting.get(reply.id)
        if future is None or future.done():
            return
        if reply.failure is not None:
            refusal = _REFUSALS.get(reply.failure.code, RequestRefused)
            future.set_exception(refusal(reply.failure))
        else:
            future.set_result(None if reply.result is None else loads(reply.result))


def _ignore(_: InspectRun) -> None:
    """Ignore an `InspectRun` that arrives before the app is loaded."""
