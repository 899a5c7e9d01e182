"""What agent code prints and logs, sent to the server line by line with the run it belongs to.

A run is known by a context variable, which its tasks, tools and callbacks inherit; what threads of
the agent's own print belongs to no run here, and the server gives it to the only one there is. Each
run may say a bounded amount; past it only the count of what was dropped is told, so that an
agent which prints for ever costs its own time and nothing else (R50).
"""

import io
import logging
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from devui.wire.messages import Output
from devui.worker.errors import sendable

MAX_PER_RUN = 1_000_000
"""How much output is kept of one run, in characters; each line counts `_PER_LINE` more."""
_PER_LINE = 64
_MAX_LINE = 16_000
_DESCRIPTORS: Final = {"stdout": 1, "stderr": 2}

current_run: ContextVar[str | None] = ContextVar("devui_current_run", default=None)
"""The id of the run whose code is executing."""


class Outputs:
    """Gives each run its share of output and sends what fits."""

    def __init__(self, send: Callable[[Output], None]) -> None:
        self._send = send
        self._sizes: dict[str | None, int] = {}
        self.writers: list[LineWriter] = []

    def say(self, stream: str, text: str, *, urgent: bool = False) -> None:
        """Send `text` for the current run, or count it as dropped when its share is used up."""
        run = current_run.get()
        size = self._sizes.get(run, 0)
        self._sizes[run] = size + len(text) + _PER_LINE
        if size < MAX_PER_RUN or urgent:
            if len(text) > _MAX_LINE:
                text = f"{text[:_MAX_LINE]}… ({len(text) - _MAX_LINE:,} more characters)"
            self._send(Output(run=run, stream=stream, text=sendable(text), at=time.time()))

    def flush(self) -> None:
        """Send the lines that were begun and not ended."""
        for writer in self.writers:
            writer.flush()

    def divert(self, send: Callable[[Output], None]) -> None:
        """In a copy of the worker: send elsewhere, and nothing of what was begun before."""
        self._send = send
        for writer in self.writers:
            writer.forget()

    def end(self, run: str) -> None:
        """Send the lines a run has begun, tell how much was dropped, and forget its share."""
        self.flush()
        dropped = self._sizes.get(run, 0) - MAX_PER_RUN
        if dropped > 0:
            self.say(
                "stderr", f"… output truncated: about {dropped:,} more characters", urgent=True
            )
        self._sizes.pop(run, None)


class LineWriter(io.TextIOBase):
    """A text stream that hands whole lines on, for `sys.stdout` and `sys.stderr`.

    It has the descriptor of the stream in whose place it is: a child process that is given the
    stream, such as the server of an MCP toolset, writes there.
    """

    def __init__(self, outputs: Outputs, stream: str, descriptor: int) -> None:
        self._outputs = outputs
        self._stream = stream
        self._descriptor = descriptor
        self._line_starts: dict[str | None, str] = {}

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has it as a plain attribute
        """Text is taken as it is."""
        return "utf-8"

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """Where child processes write; the server reads it, too."""
        return self._descriptor

    def write(self, text: str, /) -> int:
        """Take text; complete lines go out at once, the rest waits for its line end."""
        run = current_run.get()
        *lines, rest = (self._line_starts.pop(run, "") + text).split("\n")
        if len(rest) > _MAX_LINE:
            lines, rest = [*lines, rest], ""
        if rest:
            self._line_starts[run] = rest
        for line in lines:
            self._outputs.say(self._stream, line)
        return len(text)

    def flush(self) -> None:
        """Send the line begun, if any."""
        if start := self._line_starts.pop(current_run.get(), ""):
            self._outputs.say(self._stream, start)

    def forget(self) -> None:
        """Drop the lines begun."""
        self._line_starts.clear()


class LogHandler(logging.Handler):
    """Sends log records as output, with level and logger name."""

    def __init__(self, outputs: Outputs) -> None:
        super().__init__(logging.INFO)
        self._outputs = outputs
        self.setFormatter(logging.Formatter("%(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record."""
        try:
            text = self.format(record)
        except (TypeError, ValueError) as error:
            text = f"{record.name}: {record.msg!r} (bad arguments: {error})"
        self._outputs.say(record.levelname.lower(), text)


def capture(outputs: Outputs) -> None:
    """Send everything this process prints or logs from now on to `outputs`."""
    outputs.writers = [
        LineWriter(outputs, name, descriptor) for name, descriptor in _DESCRIPTORS.items()
    ]
    sys.stdout, sys.stderr = outputs.writers
    root = logging.getLogger()
    root.addHandler(LogHandler(outputs))
    root.setLevel(logging.INFO)
