"""Runs the apps of this process for the server, in a thread with its own event loop.

For each worker that it needs, the server sends the app's name and the two ends of a new wire over a
socket. All workers share one event loop, because they share the agent objects, which may be bound
to it.
"""

import asyncio
import contextlib
import json
import os
import socket
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from devui.hosting.terminal import OutputForwarder, join
from devui.wire.engines import EngineChoice
from devui.wire.messages import AppFailed, AppLoaded, Shutdown
from devui.worker.engine import Engine
from devui.worker.engines.choice import EngineUnavailable, chosen_kit, engine_info, environment
from devui.worker.engines.kit import App, BaseNode
from devui.worker.errors import agent_error
from devui.worker.instruments.instruments import Instruments
from devui.worker.link import Link, WorkerSelector, let_go
from devui.worker.orders import Inbox, carry_out
from devui.worker.output import Outputs
from devui.worker.runs import Runs
from devui.worker.tasks import TaskInspector, Watchdog

MAX_ORDER = 4096
"""The maximum size of one of the server's orders, in bytes."""
_WIRE = 2
"""The number of descriptors that come with an order."""
_SECONDS_TO_END = 5.0

_links: dict[Link, tuple[int, int]] = {}
"""The wires in use, which a fork of this process must not keep open."""


def _in_copy() -> None:
    for link in _links:
        link.sever()
    descriptors = [each for wire in _links.values() for each in wire]
    _links.clear()
    if descriptors:
        nowhere = os.open(os.devnull, os.O_RDWR)
        let_go(descriptors, nowhere)
        os.close(nowhere)


class Host:
    """Runs the apps of this process as workers of one server."""

    def __init__(
        self, load: Callable[[str], App | BaseNode], control: socket.socket, agents: Path
    ) -> None:
        """Create a host for the server at the other end of `control`.

        `load` returns an app by its name, or raises what its import raises. `agents` is the folder
        with the apps' own code.
        """
        self._load = load
        self._control = control
        self._agents = agents
        self._at_work: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._forwarder = OutputForwarder()
        self._loop = asyncio.SelectorEventLoop(WorkerSelector())
        self._thread = threading.Thread(target=self._run, name="devui-agents", daemon=True)

    def start(self) -> None:
        """Start taking orders from the server."""
        self._forwarder.start()
        self._thread.start()
        threading.Thread(target=self._listen, name="devui-control", daemon=True).start()

    def stop(self) -> None:
        """Cancel everything in progress and wait a few seconds for its end."""
        with contextlib.suppress(RuntimeError):  # the loop is already closed
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS_TO_END)
        self._forwarder.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._go_on()
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait_for(self._ended(), _SECONDS_TO_END))
        except TimeoutError:
            return
        finally:
            self._loop.close()

    def _go_on(self) -> None:
        """Run the loop until `stop`; sys.exit() in agent code ends only the run that calls it."""
        while True:
            try:
                self._loop.run_forever()
            except (SystemExit, KeyboardInterrupt):
                continue
            return

    async def _ended(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _listen(self) -> None:
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, MAX_ORDER, _WIRE)
            except OSError:
                return
            if len(descriptors) < _WIRE:  # the server closed the connection
                return
            order = json.loads(data)
            try:
                self._loop.call_soon_threadsafe(self._begin, order, descriptors)
            except RuntimeError:  # the host is being stopped
                return

    def _begin(self, order: Any, wire: list[int]) -> None:
        down, up = wire
        work = self._work(order["app"], order["engine"], down, up)
        task = self._loop.create_task(work, name=f"devui {order['app']}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, name: str, choice: EngineChoice, down: int, up: int) -> None:
        """Act as a worker until the server ends it or closes the connection."""
        for descriptor in (down, up):
            os.set_inheritable(descriptor, False)
        link = Link(os.fdopen(down, "rb"), up, self._loop)
        _links[link] = (down, up)
        inbox: Inbox = asyncio.Queue()
        link.start(inbox.put_nowait, lambda: self._lost(inbox))
        outputs = Outputs(link.send)
        join(outputs)
        self._at_work[name] += 1
        try:
            # The server may close the connection at any moment.
            with contextlib.suppress(BrokenPipeError):
                await self._serve(name, choice, link, inbox, outputs)
        finally:
            self._at_work[name] -= 1
            del _links[link]
            # The descriptor stays in use, since a leftover thread of agent code may still print.
            nowhere = os.open(os.devnull, os.O_RDWR)
            let_go((up,), nowhere)
            os.close(nowhere)

    def _lost(self, inbox: Inbox) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is already closed
            self._loop.call_soon_threadsafe(inbox.put_nowait, Shutdown())

    async def _serve(
        self, name: str, choice: EngineChoice, link: Link, inbox: Inbox, outputs: Outputs
    ) -> None:
        try:
            engine, instruments = self._engine(name, choice, link)
        # An app's imports, and the constructors of plugins and services, may raise anything.
        except (Exception, SystemExit) as error:  # noqa: BLE001
            link.send(AppFailed(error=agent_error(error, self._agents), environment=environment()))
            return
        inspector = TaskInspector(
            self._loop, instruments.calls, instruments.kit.frames, self._agents
        )
        watchdog = Watchdog(self._loop, link.send, inspector.blocked)
        watchdog.start()
        link.on_inspect(lambda request: inspector.answer(request, blocked=watchdog.silence))
        runs = Runs(engine, link, outputs, instruments, agents=self._agents)

        async def close() -> None:
            if self._at_work[name] == 1:  # an app's workers share its toolsets
                await engine.close()

        try:
            with contextlib.suppress(TimeoutError):  # code that doesn't stop is abandoned
                await carry_out(engine, runs, inbox, close)
        finally:
            watchdog.stop()

    def _engine(self, name: str, choice: EngineChoice, link: Link) -> tuple[Engine, Instruments]:
        """Load the app and create its engine and instruments.

        Raises EngineUnavailable for an engine other than the agent's own.
        """
        app = self._load(name)
        kit = chosen_kit(app, choice)
        if choice not in {"auto", kit.name}:
            raise EngineUnavailable(
                f"{name} is an agent of {kit.name} and can't run on {choice} in this mode. Choose"
                " the engine auto, or start devui without --in-process (with `devui FOLDER`"
                " instead of devui.serve)."
            )
        instruments = Instruments(link, kit)
        engine = Engine(name, app, link, instruments, agents=self._agents)
        info = replace(engine.describe(), engine=engine_info(kit, choice))
        link.send(AppLoaded(info=info))
        return engine, instruments


os.register_at_fork(after_in_child=_in_copy)
