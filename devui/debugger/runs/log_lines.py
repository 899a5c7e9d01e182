"""Lines of a run's log that its worker doesn't send: those that the debugger writes, such as who
did what and the lines of logpoints, and the output of child processes and C code, which bypasses
Python's streams.

They are in the journal with the run's own output, and every reader of the session sees them.
"""

import asyncio
import contextlib
import time
from typing import Final, Literal

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, OutputArrived
from devui.debugger.events.preview import shortened
from devui.debugger.runs.live import LiveRun
from devui.wire.messages import Output

_MOST: Final = 1_000_000
"""How many characters of output that bypasses Python's streams are kept per run (R50)."""
_LINES: Final = 500
_LINE: Final = 4000


def note(live: LiveRun, bus: Bus[News], stream: Literal["debugger", "logpoint"], text: str) -> None:
    """Write a line; `stream` is its source."""
    output = Output(run=live.row.id, stream=stream, text=text, at=time.time())
    number, line = live.add_output(output)
    bus.publish(live.session.key, OutputArrived(live.row.id, number, [line]))


def log_raw_output(live: LiveRun, text: str) -> None:
    """Log output that bypassed Python's streams as the run's own, as far as there is room."""
    if live.raw_output > _MOST:
        return
    live.raw_output += len(text)
    lines = text.splitlines()[:_LINES]
    lines += ["… further output is not saved"] if live.raw_output > _MOST else []
    for line in lines:
        output = Output(
            run=live.row.id, stream="stdout", text=shortened(line, _LINE), at=time.time()
        )
        with contextlib.suppress(asyncio.QueueFull):
            live.inbox.put_nowait(output)
