"""Programs of devui that servers and commands of tests fork: workers, and servers of commands.

Each reads modules for a second before it does anything. Here the process that starts it has them in
memory, and where it would have executed Python anew, the copy of it goes on as the other program.
That is a child like any other, in a group of its own, with the same descriptors, arguments and
environment, and is killed like any other. The product knows nothing of it.
"""

import asyncio
import atexit
import gc
import importlib
import os
import resource
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NoReturn

from setproctitle import getproctitle, setproctitle

_MAIN = {"devui.worker": "devui.worker.__main__", "devui": "devui.cli"}
"""Where the programs that `python -m` starts have their `main`."""


def load_worker() -> None:
    """Read what a worker reads, and what servers would be reading in a thread when they fork."""
    importlib.import_module("devui.worker.__main__")
    importlib.import_module("devui.wire.framing").codecs()
    setproctitle(getproctitle())  # it finds its place only before the environment is changed


def fork_programs() -> None:
    """In the process of a server or command, before it starts any other."""
    subprocess.Popen = _Popen


class _Popen(subprocess.Popen):
    """Starts a program as ever, but for those of devui, which are there already."""

    def __init__(self, args: Any, **options: Any) -> None:
        command = [os.fspath(part) for part in args]
        arguments = command[command.index("-m") + 1 :] if "-m" in command else []
        if command[0] == sys.executable and arguments and arguments[0] in _MAIN:
            descriptors = options.get("pass_fds", ())
            env = dict(os.environ if options.get("env") is None else options["env"])
            options["preexec_fn"] = lambda: _become(arguments, descriptors, env)
        super().__init__(args, **options)


def _become(arguments: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> None:
    """Forget who has started this, as executing a program would, and be the program until its end.

    Called in the copy, which has its streams and its session by then.
    """
    gc.freeze()  # objects of the other would close descriptors that are others' by then
    if arguments[0] == "devui.worker":
        subprocess.Popen = _Popen.__base__
    asyncio._set_running_loop(None)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_IGN)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    for before, after in pairwise([2, *sorted(descriptors), limit]):
        os.closerange(before + 1, after)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = arguments
    setproctitle(" ".join([sys.executable, "-m", *arguments]))  # tests look for programs by it
    end_with(importlib.import_module(_MAIN[arguments[0]]).main)


def end_with(program: Callable[[], object]) -> NoReturn:
    """Be a program until its end, in a fork.

    Python ends as ever, except that it takes no modules apart: these are shared, and each would be
    copied for it.
    """
    status = 1
    try:
        program()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  what Python does with it
        traceback.print_exc()
    finally:
        try:
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
        finally:  # whatever happens, a fork never goes on as a copy of who has started it
            os._exit(status)
