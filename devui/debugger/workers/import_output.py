"""The output of an app's import: it belongs to no run, and often says why the import failed."""

import time
from typing import Final

from devui.debugger.events.preview import shortened
from devui.store.rows import OutputLine
from devui.wire.messages import Output

LINES: Final = 200
CHARACTERS: Final = 64_000
"""Limits for a log that a person reads; its beginning says more than its end."""
_LINE: Final = 4_000


class ImportOutput:
    """The first lines of one import."""

    def __init__(self) -> None:
        self.lines: list[OutputLine] = []
        self.left_out = 0
        """How many lines were dropped."""
        self._characters = 0

    def take(self, message: Output) -> None:
        """Keep a line from Python's streams or logging."""
        self._keep(
            OutputLine(stream=message.stream, text=shortened(message.text, _LINE), at=message.at)
        )

    def keep_raw(self, text: str) -> None:
        """Keep output that bypassed Python's streams, from child processes and C code."""
        for line in text.splitlines():
            self._keep(OutputLine(stream="stdout", text=shortened(line, _LINE), at=time.time()))

    def _keep(self, line: OutputLine) -> None:
        self._characters += len(line.text)
        if len(self.lines) >= LINES or self._characters > CHARACTERS:
            self.left_out += 1
        else:
            self.lines.append(line)
