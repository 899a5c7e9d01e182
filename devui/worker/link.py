"""The worker's end of the wire.

Reading has a thread of its own, so that the end of the server is noticed even while agent code
holds the event loop; writing is a plain blocking write under a lock, so that any thread may
report something, and a server that does not read slows the agent down instead of filling memory.
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
from devui.wire.messages import Failure, Output, Reply, Request, ToServer, ToWorker
from devui.wire.standing import Look, LookAnswer
from devui.worker.debuggers import leave_alone

_CAME_BACK = 70
"""The exit status of a copy that came back: a fault of the software (EX_SOFTWARE)."""
_ADVICE = (
    "devui: a process forked by the agent returned from the agent's code and was terminated. "
    "End such processes with os._exit() when their work is done.\n"
)


class Turns(selectors.DefaultSelector):
    """What the worker's loop waits with; a forked copy cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._owner = os.getpid()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for what is next."""
        if os.getpid() != self._owner:
            come_back()
        return super().select(timeout)


def come_back() -> NoReturn:
    """End this process, which is a copy of a worker."""
    _write(_ADVICE)
    os._exit(_CAME_BACK)


def say(output: Output) -> None:
    """Write to the process's own output what cannot go over the wire."""
    _write(f"{output.text}\n")


def let_go(descriptors: Iterable[int], nowhere: int) -> None:
    """In a copy: let descriptors lead nowhere; their numbers stay taken, as others hold them."""
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor, inheritable=False)


def _write(text: str) -> None:
    try:
        os.write(2, text.encode(errors="replace"))
    except OSError:  # the agent closed it: there is nobody to tell
        return


Receive = Callable[[ToWorker], None]
LookFor = Callable[[Look], LookAnswer | None]


class Refused(Exception):
    """The server did not do what a request asked for; `code` says why in one word."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.code = failure.code


class InvalidEvent(Refused):
    """What agent code yielded is no event; its run ends with that, by this name (R53)."""


_REFUSALS: Final = {"invalid_event": InvalidEvent}


class Link:
    """Messages to and from the server; requests are answered by awaiting them."""

    def __init__(self, down: BinaryIO, up: int, loop: asyncio.AbstractEventLoop) -> None:
        self._down = down
        self._up = up
        self._loop = loop
        self._writing = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._look: LookFor = _look_away
        self._severed = False

    def start(self, receive: Receive, on_loss: Callable[[], None]) -> None:
        """Read from now on: `receive` is called in the loop, `lost` in the reading thread."""
        thread = threading.Thread(
            target=self._read, args=(receive, on_loss), name="devui-link", daemon=True
        )
        leave_alone(thread).start()

    def on_look(self, look: LookFor) -> None:
        """Say who answers a `Look`: in the reading thread, since the loop may be blocked."""
        self._look = look

    def send(self, message: ToServer) -> None:
        """Write one message; returns when the system has taken it. Callable from any thread.

        Raises FrameTooLarge for a message over the limit and BrokenPipeError without a server.
        """
        if self._severed:
            come_back()
        frame = memoryview(for_server(message))
        with self._writing:
            while frame:
                frame = frame[os.write(self._up, frame) :]

    def sever(self) -> None:
        """In a copy of the worker that was forked: to send is the end of it."""
        self._severed = True

    async def request(self, make: Callable[[int], Request]) -> Any:
        """Send what `make` builds from a fresh id and return the decoded result.

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
            elif isinstance(message, Look):
                self._answer_look(message)
            else:
                self._loop.call_soon_threadsafe(receive, message)
        on_loss()

    def _answer_look(self, message: Look) -> None:
        answer = self._look(message)
        if answer is not None:
            with contextlib.suppress(BrokenPipeError):  # the end of the server is told by reading
                self.send(answer)

    def _answer(self, reply: Reply) -> None:
        future = self._waiting.get(reply.id)
        if future is None or future.done():
            return
        if reply.failure is not None:
            refusal = _REFUSALS.get(reply.failure.code, Refused)
            future.set_exception(refusal(reply.failure))
        else:
            future.set_result(None if reply.result is None else loads(reply.result))


def _look_away(_: Look) -> None:
    """Nothing runs before the app is loaded."""
