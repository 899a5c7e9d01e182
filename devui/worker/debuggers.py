"""Python debuggers used on agent code: pdb at a terminal, debugpy in an editor.

While a debugger has stopped the code, the event loop is blocked and runs make no progress; that
isn't reported as a fault.
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
"""The state of a thread that pydevd, on which debugpy is based, has suspended."""


_SECONDS_FOR_PORT = 5.0
_BETWEEN_TRIES = 0.2
_PAUSE = threading.Event()
"""Never set; used to wait."""


class DebuggerUnavailable(Exception):
    """No editor can attach; the message says what to do."""


def leave_alone(thread: threading.Thread) -> threading.Thread:
    """Exempt a thread that reports to the server from debugpy; call this before it starts."""
    vars(thread)["pydev_do_not_trace"] = True
    return thread


def listen(port: int) -> None:
    """Let an editor attach on this port of 127.0.0.1.

    Raises DebuggerUnavailable without debugpy, or if the port stays in use.
    """
    # Silences a warning, on each start, that some modules of Python can't be debugged.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        debugpy = import_module("debugpy")
    except ImportError as error:
        raise DebuggerUnavailable(
            f"--debug-port needs debugpy, which is not installed in {sys.executable}. Install it"
            f" with `{sys.executable} -m pip install debugpy`."
        ) from error
    debugpy.configure(subProcess=False)  # child processes of the agent are not debugged
    until = time.monotonic() + _SECONDS_FOR_PORT
    while not _is_free(port):  # the previous version's listener may take a moment to close
        if time.monotonic() > until:
            raise DebuggerUnavailable(
                f"The debug port {port} is in use by another program, or by a run on the previous"
                " version of this app. End that, then reload the app."
            )
        _PAUSE.wait(_BETWEEN_TRIES)
    # In a process of its own, the listener would outlive this one and keep the port.
    debugpy.listen(("127.0.0.1", port), in_process_debug_adapter=True)


def wait_for_editor() -> None:
    """Return once an editor has attached; call this after `listen`."""
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
    """Return the debugger that has stopped a thread of this process and waits for a person."""
    pdb = sys.modules.get("pdb")
    if pdb is not None and any(_is_prompt(frame, pdb) for frame in _frames()):
        return "pdb"
    if "debugpy" in sys.modules and any(map(_is_suspended, threading.enumerate())):
        return "debugpy"
    return None


def editor_is_attached() -> bool:
    """Return whether a debugpy client is connected, stopped or not."""
    debugpy = sys.modules.get("debugpy")
    return debugpy is not None and bool(debugpy.is_client_connected())


def _frames() -> Iterator[FrameType]:
    for top in sys._current_frames().values():
        frame: FrameType | None = top
        while frame is not None:
            yield frame
            frame = frame.f_back


def _is_prompt(frame: FrameType, pdb: ModuleType) -> bool:
    # Not just any frame of pdb: under `python -m pdb`, a script's outermost frame is one.
    code = frame.f_code
    return code.co_name == "_cmdloop" and code.co_filename == pdb.__file__


def _is_suspended(thread: threading.Thread) -> bool:
    info = vars(thread).get("additional_info")
    return info is not None and info.pydev_state == _SUSPENDED
