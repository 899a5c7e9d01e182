"""Programs of devui that tests' servers and commands fork: workers, and servers of commands.

Each would import modules for a second before doing anything. Here, the process that starts one has
them in memory, and instead of executing Python anew, its copy continues as the other program. That
is a child like any other, in a group of its own, with the same descriptors, arguments and
environment, and is killed like any other. The product knows nothing about this.
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
"""The modules with the `main` of the programs that `python -m` starts."""


def load_worker() -> None:
    """Import what a worker imports, and what a server's thread might be importing at a fork."""
    importlib.import_module("devui.worker.__main__")
    importlib.import_module("devui.wire.framing").codecs()
    setproctitle(getproctitle())  # has to run before the environment is changed


def fork_programs() -> None:
    """Replace `Popen` in the process of a server or command, before it starts another."""
    subprocess.Popen = _Popen


class _Popen(subprocess.Popen):
    """Starts programs as usual, except those of devui, which are in memory already."""

    def __init__(self, args: Any, **options: Any) -> None:
        command = [os.fspath(part) for part in args]
        arguments = command[command.index("-m") + 1 :] if "-m" in command else []
        if command[0] == sys.executable and arguments and arguments[0] in _MAIN:
            descriptors = options.get("pass_fds", ())
            env = dict(os.environ if options.get("env") is None else options["env"])
            options["preexec_fn"] = lambda: _become(arguments, descriptors, env)
        super().__init__(args, **options)


def _become(arguments: list[str], descriptors: tuple[int, ...], env: dict[str, str]) -> None:
    """Reset what executing a program would reset, and run the program to its end.

    Called in the copy, which has its streams and its session by then.
    """
    gc.freeze()  # the original's objects would close descriptors that have new owners by then
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
    setproctitle(" ".join([sys.executable, "-m", *arguments]))  # tests find programs by it
    end_with(importlib.import_module(_MAIN[arguments[0]]).main)


def end_with(program: Callable[[], object]) -> NoReturn:
    """Run a program to its end, in a fork.

    Python ends as usual, except that it doesn't tear down modules: these are shared, and tearing
    one down would copy it.
    """
    status = 1
    try:
        program()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001  handled as Python does
        traceback.print_exc()
    finally:
        try:
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
        finally:  # whatever happens, a fork must not continue as a copy of its parent
            os._exit(status)
