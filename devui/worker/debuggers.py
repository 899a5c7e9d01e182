"""Debuggers of Python that somebody uses on agent code: pdb at a terminal, debugpy of an editor.

While one of them has stopped the code, its loop does not turn and its runs do not come on; that is
no fault of theirs.
"""

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from types import FrameType, ModuleType

from devui.wire.messages import Debugger

_SUSPENDED = 2
"""How pydevd, on which debugpy stands, calls the state of a thread that it has stopped."""


_SECONDS_FOR_PORT = 5.0
_BETWEEN_TRIES = 0.2
_PAUSE = threading.Event()
"""Never set."""


class DebuggerUnavailable(Exception):
    """No editor can attach; the message says what to do."""


def leave_alone(thread: threading.Thread) -> threading.Thread:
    """Let debugpy never stop this thread, which reports to the server; before it starts."""
    vars(thread)["pydev_do_not_trace"] = True
    return thread


def listen(port: int) -> None:
    """Let an editor attach on this port of 127.0.0.1.

    Raises DebuggerUnavailable without debugpy, or if the port stays in use.
    """
    # A warning that it can't stop in some modules of Python itself, on each start.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        debugpy = import_module("debugpy")
    except ImportError as error:
        raise DebuggerUnavailable(
            f"--debug-port needs debugpy, which is not installed in {sys.executable}. Install it"
            f" with `{sys.executable} -m pip install debugpy`."
        ) from error
    debugpy.configure(subProcess=False)  # what the agent starts is not the agent
    until = time.monotonic() + _SECONDS_FOR_PORT
    while not _is_free(port):  # the last version's listener may take a moment to leave
        if time.monotonic() > until:
            raise DebuggerUnavailable(
                f"The debug port {port} is in use by another program, or by a run on the previous"
                " version of this app. End that, then reload the app."
            )
        _PAUSE.wait(_BETWEEN_TRIES)
    # In a process of its own, the listener would outlive this one and keep the port.
    debugpy.listen(("127.0.0.1", port), in_process_debug_adapter=True)


def wait_for_editor() -> None:
    """Return once an editor has attached; after `listen`."""
    sys.modules["debugpy"].wait_for_client()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def stopped_by() -> Debugger | None:
    """The debugger that has stopped a thread of this process, and waits for a person."""
    pdb = sys.modules.get("pdb")
    if pdb is not None and any(_is_prompt(frame, pdb) for frame in _frames()):
        return "pdb"
    if "debugpy" in sys.modules and any(map(_is_suspended, threading.enumerate())):
        return "debugpy"
    return None


def editor_is_attached() -> bool:
    """Whether a client of debugpy is connected, stopped or not."""
    debugpy = sys.modules.get("debugpy")
    return debugpy is not None and bool(debugpy.is_client_connected())


def _frames() -> Iterator[FrameType]:
    for top in sys._current_frames().values():
        frame: FrameType | None = top
        while frame is not None:
            yield frame
            frame = frame.f_back


def _is_prompt(frame: FrameType, pdb: ModuleType) -> bool:
    # Not any frame of pdb: of a script that runs under `python -m pdb`, the outermost one is.
    code = frame.f_code
    return code.co_name == "_cmdloop" and code.co_filename == pdb.__file__


def _is_suspended(thread: threading.Thread) -> bool:
    info = vars(thread).get("additional_info")
    return info is not None and info.pydev_state == _SUSPENDED
