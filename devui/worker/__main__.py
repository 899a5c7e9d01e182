"""The program of a worker process: loads one app, then executes the server's orders.

`python -m devui.worker --agents DIR --app NAME --engine NAME --down FD --up FD`; only the server
starts it. With `--preload ENGINE` instead of the first three options, it imports that engine and
then reads the options as a line of JSON, before any message.
"""

import argparse
import asyncio
import faulthandler
import gc
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, get_args

from devui.wire.engines import EngineChoice
from devui.wire.messages import AppFailed, AppLoaded, EditorAwaited
from devui.worker import debuggers
from devui.worker.engine import Engine
from devui.worker.engines.choice import chosen_kit, engine_info, environment, preload, prepare
from devui.worker.errors import agent_error
from devui.worker.instruments.instruments import Instruments
from devui.worker.link import Link, WorkerSelector, let_go, say
from devui.worker.loading import load
from devui.worker.orders import Inbox, carry_out
from devui.worker.output import Outputs, capture
from devui.worker.runs import Runs
from devui.worker.tasks import TaskInspector, Watchdog
from devui.worker.telemetry import start_exporting


def _arguments(more: Sequence[str] = ()) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="devui.worker")
    parser.add_argument("--agents", type=Path)
    parser.add_argument("--app")
    parser.add_argument("--preload", choices=get_args(EngineChoice))
    parser.add_argument("--engine", choices=get_args(EngineChoice), default="auto")
    parser.add_argument("--down", type=int, required=True)
    parser.add_argument("--up", type=int, required=True)
    parser.add_argument("--debug-port", type=int)
    parser.add_argument("--wait-for-client", action="store_true")
    return parser.parse_args([*sys.argv[1:], *more])


def _die() -> None:
    """Kill this process and all its children: without the server nobody could stop them."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _guard_copies(
    wire: tuple[int, int], selector: WorkerSelector, link: Link, outputs: Outputs
) -> None:
    """Keep the wire out of any process that agent code starts."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in wire:
        os.set_inheritable(descriptor, False)  # not even with close_fds=False

    def in_copy() -> None:
        let_go((*wire, selector.fileno()), nowhere)
        link.sever()
        outputs.divert(say)

    os.register_at_fork(after_in_child=in_copy)


def _run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    while not task.done():
        try:
            loop.run_until_complete(task)
        # sys.exit() in a task of agent code leaves the loop; its run has failed by then, and all
        # other runs continue.
        except (SystemExit, KeyboardInterrupt):
            continue
        except TimeoutError:
            return


def _wait_for_app(down: BinaryIO, engine: EngineChoice) -> argparse.Namespace:
    """Import an engine, wait until the server assigns an app, and return the full arguments."""
    preload(engine)
    line = down.readline()
    if not line:  # the server is gone, or doesn't need this worker
        os._exit(0)
    return _arguments(json.loads(line))


def main() -> None:
    """Run the worker until the server shuts it down or disappears."""
    arguments = _arguments()
    faulthandler.enable(2)
    down = os.fdopen(arguments.down, "rb")
    if arguments.preload:
        arguments = _wait_for_app(down, arguments.preload)
    agents: Path = arguments.agents.resolve()
    selector = WorkerSelector()
    loop = asyncio.SelectorEventLoop(selector)
    asyncio.set_event_loop(loop)
    link = Link(down, arguments.up, loop)
    inbox: Inbox = asyncio.Queue()
    link.start(inbox.put_nowait, _die)
    outputs = Outputs(link.send)
    capture(outputs)
    _guard_copies((arguments.down, arguments.up), selector, link, outputs)
    try:
        if arguments.debug_port is not None:
            debuggers.listen(arguments.debug_port)
            if arguments.wait_for_client:
                link.send(EditorAwaited(port=arguments.debug_port))
                debuggers.wait_for_editor()
                link.send(EditorAwaited(port=None))
        prepare(arguments.engine)
        app = load(agents, arguments.app)
        kit = chosen_kit(app, arguments.engine)
        send_rest = start_exporting(arguments.app, kit)
        instruments = Instruments(link, kit)
        engine = Engine(arguments.app, app, link, instruments, agents=agents)
        gc.freeze()  # no collection needs to look at what the imports have created
        info = replace(engine.describe(), engine=engine_info(kit, arguments.engine))
        outputs.flush()  # output of the import belongs before `AppLoaded`
        link.send(AppLoaded(info=info))
    # An import may raise anything; all of it is reported to the author of the agent.
    except BaseException as error:  # noqa: BLE001
        outputs.flush()
        link.send(AppFailed(error=agent_error(error, agents), environment=environment()))
        os._exit(0)
    inspector = TaskInspector(loop, instruments.calls, instruments.kit.frames, agents)
    watchdog = Watchdog(loop, link.send, inspector.blocked)
    watchdog.start()
    link.on_inspect(lambda request: inspector.answer(request, blocked=watchdog.silence))
    runs = Runs(engine, link, outputs, instruments, agents=agents)
    _run_until_done(loop, loop.create_task(carry_out(engine, runs, inbox, engine.close)))
    watchdog.stop()
    send_rest()
    # Threads of agent code that never return must not keep the process alive.
    os._exit(0)


if __name__ == "__main__":
    main()
