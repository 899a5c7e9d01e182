"""What runs say past Python's streams: by child processes and C code."""

import asyncio
import contextlib
import time
from typing import Final

from devui.debugger.events.preview import shortened
from devui.debugger.runs.live import LiveRun
from devui.wire.messages import Output

OUTPUT_LIMIT: Final = 1_000_000
"""Characters of it that are kept of a run (R50)."""
_LINES: Final = 500
_LINE: Final = 4000


def overhear(live: LiveRun, text: str) -> None:
    """Take it as output of the run, as far as there is room."""
    if live.raw_output > OUTPUT_LIMIT:
        return
    live.raw_output += len(text)
    lines = text.splitlines()[:_LINES]
    lines += ["… further output is not saved"] if live.raw_output > OUTPUT_LIMIT else []
    for line in lines:
        output = Output(
            run=live.row.id, stream="stdout", text=shortened(line, _LINE), at=time.time()
        )
        with contextlib.suppress(asyncio.QueueFull):
            live.inbox.put_nowait(output)
