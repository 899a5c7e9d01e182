"""What an app prints while it is imported: it belongs to no run, and often says why it fails."""

import time
from typing import Final

from devui.debugger.events.preview import shortened
from devui.store.rows import OutputLine
from devui.wire.messages import Output

LINES: Final = 200
CHARACTERS: Final = 64_000
"""Both as in a log that somebody reads; what comes first tells more than what comes last."""
_LINE: Final = 4_000


class Printed:
    """The first lines of one import."""

    def __init__(self) -> None:
        self.lines: list[OutputLine] = []
        self.left_out = 0
        """How many more lines there were."""
        self._characters = 0

    def take(self, message: Output) -> None:
        """Keep a line that Python's streams or its logging told."""
        self._keep(
            OutputLine(stream=message.stream, text=shortened(message.text, _LINE), at=message.at)
        )

    def overhear(self, text: str) -> None:
        """Keep what was written past Python's streams, by child processes and C code."""
        for line in text.splitlines():
            self._keep(OutputLine(stream="stdout", text=shortened(line, _LINE), at=time.time()))

    def _keep(self, line: OutputLine) -> None:
        self._characters += len(line.text)
        if len(self.lines) >= LINES or self._characters > CHARACTERS:
            self.left_out += 1
        else:
            self.lines.append(line)
