"""A worker process from the server's side: how it is started, talked to and ended."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from devui.debugger.events.checked import event_shape
from devui.interpreter import Interpreter
from devui.wire.engines import EngineChoice
from devui.wire.framing import WireError, codecs, for_worker, read_from_worker
from devui.wire.messages import Shutdown, ToServer, ToWorker

Receive = Callable[[ToServer], Awaitable[None]]
OnOutput = Callable[[str], None]

SECRETS = ("DEVUI_TOKEN",)
"""Environment variables of the server that agent code must not see (R09)."""
_TAIL = 16 * 1024
"""How many bytes of raw output are kept."""
_CHUNK = 64 * 1024
_SECONDS_TO_TERMINATE = 2.0


class ShutdownTimeouts(NamedTuple):
    """How long to wait for a process to end before the next, harder step, in seconds."""

    leave: float
    """After a request to shut down; then comes SIGTERM."""
    terminate: float
    """After SIGTERM; then comes SIGKILL."""


PATIENT = ShutdownTimeouts(leave=4.0, terminate=_SECONDS_TO_TERMINATE)
HASTY = ShutdownTimeouts(leave=2.0, terminate=1.0)
"""For the server's shutdown, which has five seconds for everything (R56)."""


class WorkerProcess:
    """A child process in its own session and process group."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        down: asyncio.StreamWriter,
        up: FileIO,
        out: FileIO,
    ) -> None:
        self._process = process
        self._down = down
        self._up = up
        self._out = out
        self._tail = b""

    @classmethod
    async def start(
        cls,
        agents: Path,
        app: str,
        engine: EngineChoice = "auto",
        interpreter: Interpreter | None = None,
        *,
        options: Sequence[str] = (),
    ) -> "WorkerProcess":
        """Start a worker for `app`; its first message is the outcome of loading it.

        `options` are further command-line options of the worker.

        Raises OSError if the system has no room for a process or its pipes; nothing stays open.
        """
        arguments = [*_app_arguments(agents, app, engine), *options]
        asyncio.get_running_loop().run_in_executor(None, load_codecs)  # while the worker starts
        return await cls._launch(interpreter or Interpreter.at(None), arguments)

    @classmethod
    async def spare(cls, interpreter: Interpreter, engine: EngineChoice) -> "WorkerProcess":
        """Start a worker that imports an engine and waits for its app; raises what `start` does."""
        return await cls._launch(interpreter, ["--preload", engine])

    async def assign(self, agents: Path, app: str, engine: EngineChoice) -> None:
        """Give a spare worker its app; raises ConnectionError if it is gone."""
        asyncio.get_running_loop().run_in_executor(None, load_codecs)  # while the app is imported
        self._down.write(json.dumps(_app_arguments(agents, app, engine)).encode() + b"\n")
        await self._down.drain()

    async def discard(self) -> None:
        """End a spare worker that was never listened to."""
        self.kill()
        await self._process.wait()
        self._down.close()
        self._up.close()
        self._out.close()

    @classmethod
    async def _launch(cls, interpreter: Interpreter, arguments: list[str]) -> "WorkerProcess":
        with ExitStack() as theirs, ExitStack() as ours:
            down_read, down_write = pipe(theirs, ours)
            up_read, up_write = pipe(ours, theirs)
            # Not asyncio's own pipe: with that, the process would count as alive while any of its
            # children holds the pipe open.
            out_read, out_write = pipe(ours, theirs)
            process = await asyncio.create_subprocess_exec(
                *interpreter.worker,
                *("--down", str(down_read.fileno()), "--up", str(up_write.fileno())),
                *arguments,
                pass_fds=(down_read.fileno(), up_write.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out_write,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                env=interpreter.environment(
                    {k: v for k, v in os.environ.items() if k not in SECRETS}
                ),
            )
            down = await writer(down_write)
            ours.pop_all()
        return cls(process, down, up_read, out_read)

    @property
    def pid(self) -> int:
        """The process id, which is also its process group id."""
        return self._process.pid

    @property
    def group(self) -> int | None:
        """The process group in which only the app's code runs."""
        return self.pid

    @property
    def last_words(self) -> str:
        """The end of the output that bypassed Python's streams, such as crash reports."""
        return self._tail.decode(errors="replace")

    async def send(self, message: ToWorker) -> None:
        """Send a message; it is ignored if the worker is already gone.

        Raises FrameTooLarge for a message over the wire's limit.
        """
        await deliver(self._down, message)

    async def listen(self, receive: Receive, on_output: OnOutput) -> int:
        """Pass each message to `receive` in order until the worker is gone; return its exit status.

        `on_output` gets output that bypasses Python's streams, from child processes and C code.
        A worker that sends an invalid message is killed.
        """
        stream, wire = await reader(self._up)
        output, pipe = await reader(self._out)
        drain = asyncio.create_task(
            self._keep_tail(output, on_output), name=f"output of worker {self.pid}"
        )
        hang_up = asyncio.create_task(
            self._hang_up_after_exit(wire), name=f"end of worker {self.pid}"
        )
        try:
            while (message := await read_from_worker(stream)) is not None:
                await receive(message)
        except WireError as error:
            self._tail += f"\n{error}\n".encode()
            self.kill()
        finally:
            wire.close()
        # A worker that closed the wire but keeps running is useless.
        if not await self._has_ended(_SECONDS_TO_TERMINATE):
            self.kill()
        status = await self._process.wait()
        hang_up.cancel()
        self._kill_group()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(drain, _SECONDS_TO_TERMINATE)
        pipe.close()
        self._down.close()
        return status

    async def _hang_up_after_exit(self, wire: asyncio.BaseTransport) -> None:
        """Hang up after the process has exited, in case another process holds the wire open.

        Only one that left the process group can. The worker's last messages have been read by then.
        """
        await self._process.wait()
        self._kill_group()
        asyncio.get_running_loop().call_later(_SECONDS_TO_TERMINATE, wire.close)

    async def stop(self, ladder: ShutdownTimeouts = PATIENT) -> None:
        """End the process: a request, then SIGTERM, then SIGKILL to the whole group (R52)."""
        await self.send(Shutdown())
        if await self._has_ended(ladder.leave):
            return
        self._signal(signal.SIGTERM)
        if not await self._has_ended(ladder.terminate):
            self.kill()
            await self._process.wait()

    def terminate(self) -> None:
        """Send SIGTERM to the process group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the process group."""
        self._signal(signal.SIGKILL)

    async def _has_ended(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def _kill_group(self) -> None:
        # For children that outlived the worker; without any, the group no longer exists.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def _keep_tail(self, stream: asyncio.StreamReader, on_output: OnOutput) -> None:
        while chunk := await stream.read(_CHUNK):
            self._tail = (self._tail + chunk)[-_TAIL:]
            on_output(chunk.decode(errors="replace"))


def _app_arguments(agents: Path, app: str, engine: EngineChoice) -> list[str]:
    return ["--agents", str(agents), "--app", app, "--engine", engine]


async def deliver(down: asyncio.StreamWriter, message: ToWorker) -> None:
    """Send a message down a wire; it is ignored if the worker is gone.

    Raises FrameTooLarge for a message over the wire's limit.
    """
    frame = for_worker(message)
    with contextlib.suppress(ConnectionError):
        down.write(frame)
        await down.drain()


def load_codecs() -> None:
    """Import the code that parses workers' messages and the events in them."""
    codecs()
    event_shape()


def pipe(reader: ExitStack, writer: ExitStack) -> tuple[FileIO, FileIO]:
    """Create a pipe; each end is closed with the exit stack of its owner."""
    read, write = os.pipe()
    return reader.enter_context(FileIO(read, "rb")), writer.enter_context(FileIO(write, "wb"))


async def writer(pipe: FileIO) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def reader(pipe: FileIO) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    stream = asyncio.StreamReader(limit=2**20)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), pipe
    )
    return stream, transport
