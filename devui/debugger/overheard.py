"""What runs say past Python's streams: by child processes and C code."""

import asyncio
import contextlib
import time
from typing import Final

from devui.debugger.live import LiveRun
from devui.debugger.preview import shortened
from devui.wire.messages import Output

HEARD: Final = 1_000_000
"""Characters of it that are kept of a run (R50)."""
_LINES: Final = 500
_LINE: Final = 4000


def overhear(live: LiveRun, text: str) -> None:
    """Take it as output of the run, as far as there is room."""
    if live.heard > HEARD:
        return
    live.heard += len(text)
    lines = text.splitlines()[:_LINES]
    lines += ["… more output is not kept"] if live.heard > HEARD else []
    for line in lines:
        said = Output(run=live.row.id, stream="stdout", text=shortened(line, _LINE), at=time.time())
        with contextlib.suppress(asyncio.QueueFull):
            live.inbox.put_nowait(said)
