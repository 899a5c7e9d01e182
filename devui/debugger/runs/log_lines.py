"""Lines that the debugger itself writes into a run's log: who did what, what logpoints say.

They are kept in the journal with what the run prints, and every reader of the session sees them.
"""

import time
from typing import Literal

from devui.debugger.events.bus import Bus
from devui.debugger.events.news import News, OutputArrived
from devui.debugger.runs.live import LiveRun
from devui.wire.messages import Output


def note(live: LiveRun, bus: Bus[News], stream: Literal["debugger", "logpoint"], text: str) -> None:
    """Write a line; `stream` is where it says it is from."""
    output = Output(run=live.row.id, stream=stream, text=text, at=time.time())
    number, line = live.add_output(output)
    bus.publish(live.session.key, OutputArrived(live.row.id, number, [line]))
