"""Lines of a run's log that its worker doesn't send: what the debugger writes, such as who did what
and what logpoints say, and what child processes and C code print past Python's streams.

They are kept in the journal with what the run prints, and every reader of the session sees them.
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
"""Characters past Python's streams that are kept of a run (R50)."""
_LINES: Final = 500
_LINE: Final = 4000


def note(live: LiveRun, bus: Bus[News], stream: Literal["debugger", "logpoint"], text: str) -> None:
    """Write a line; `stream` is where it says it is from."""
    output = Output(run=live.row.id, stream=stream, text=text, at=time.time())
    number, line = live.add_output(output)
    bus.publish(live.session.key, OutputArrived(live.row.id, number, [line]))


def overhear(live: LiveRun, text: str) -> None:
    """Take what came past Python's streams as output of the run, as far as there is room."""
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
