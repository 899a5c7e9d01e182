"""Workers that their server forks, for tests that kill hundreds of them.

A worker reads modules for a second before it does anything. Here the server of a test has them in
memory, and where it would have executed Python anew, the copy of it goes on as the worker program.
That is a child of the server like any other, in a group of its own, with the same descriptors,
arguments and environment, and is killed like any other. The product knows nothing of it.
"""

import asyncio
import gc
import importlib
import os
import resource
import signal
import subprocess
import sys
from itertools import pairwise
from typing import Any

from setproctitle import getproctitle, setproctitle

_PROGRAM = "devui.worker"


def load_worker() -> None:
    """Read what a worker reads, and what servers would be reading in a thread when they fork."""
    importlib.import_module(f"{_PROGRAM}.__main__")
    importlib.import_module("devui.wire.framing").codecs()
    setproctitle(getproctitle())  # it finds its place only before the environment is changed


def fork_workers() -> None:
    """In a server's process, before it starts any worker."""
    subprocess.Popen = _Popen


class _Popen(subprocess.Popen):
    """Starts a program as ever, but for the worker's, which is there already."""

    def __init__(self, args: Any, **options: Any) -> None:
        command = [os.fspath(part) for part in args]
        if _PROGRAM in command and command[0] == sys.executable:
            arguments = command[command.index(_PROGRAM) :]
            kept, env = options["pass_fds"], options["env"]
            options["preexec_fn"] = lambda: _become_worker(arguments, kept, env)
        super().__init__(args, **options)


def _become_worker(arguments: list[str], kept: tuple[int, ...], env: dict[str, str]) -> None:
    """Forget the server, as executing a program would, and be the worker until its end.

    Called in the copy, which has its streams and its session by then.
    """
    gc.freeze()  # objects of the server would close descriptors that are others' by then
    subprocess.Popen = _Popen.__base__
    asyncio._set_running_loop(None)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    beyond = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for before, after in pairwise([2, *sorted(kept), beyond]):
        os.closerange(before + 1, after)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = arguments
    setproctitle(" ".join([sys.executable, "-m", *arguments]))  # tests look for workers by it
    try:
        importlib.import_module(f"{_PROGRAM}.__main__").main()
    finally:
        os._exit(1)
