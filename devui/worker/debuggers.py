"""Debuggers of Python that somebody uses on agent code: pdb at a terminal, debugpy of an editor.

While one of them has stopped the code, its loop does not turn and its runs do not come on; that is
no fault of theirs.
"""

import sys
import threading
from collections.abc import Iterator
from types import FrameType, ModuleType

from devui.wire.messages import Debugger

_SUSPENDED = 2
"""How pydevd, on which debugpy stands, calls the state of a thread that it has stopped."""


def leave_alone(thread: threading.Thread) -> threading.Thread:
    """Let debugpy never stop this thread, which reports to the server; before it starts."""
    vars(thread)["pydev_do_not_trace"] = True
    return thread


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
