"""Sends what agent code prints and logs to the server, line by line, with the run it belongs to.

The run is a context variable, which its tasks, tools and callbacks inherit. Output of an agent's
own threads belongs to no run here; if only one run exists, the server assigns the output to it.
Each run may send a limited amount; after that, only the amount dropped is reported, so that an
agent that prints forever costs only its own time (R50).
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
"""How much output is kept per run, in characters; each line counts as `_PER_LINE` more."""
_PER_LINE = 64
_MAX_LINE = 16_000
_DESCRIPTORS: Final = {"stdout": 1, "stderr": 2}

current_run: ContextVar[str | None] = ContextVar("devui_current_run", default=None)
"""The id of the run whose code is executing."""


class Outputs:
    """Limits the output of each run and sends what fits."""

    def __init__(self, send: Callable[[Output], None]) -> None:
        self._send = send
        self._sizes: dict[str | None, int] = {}
        self.writers: list[LineWriter] = []

    def say(self, stream: str, text: str, *, urgent: bool = False) -> None:
        """Send `text` for the current run, or count it as dropped if the run's share is used up."""
        run = current_run.get()
        size = self._sizes.get(run, 0)
        self._sizes[run] = size + len(text) + _PER_LINE
        if size < MAX_PER_RUN or urgent:
            if len(text) > _MAX_LINE:
                text = f"{text[:_MAX_LINE]}… ({len(text) - _MAX_LINE:,} more characters)"
            self._send(Output(run=run, stream=stream, text=sendable(text), at=time.time()))

    def flush(self) -> None:
        """Send the current run's unfinished lines."""
        for writer in self.writers:
            writer.flush()

    def divert(self, send: Callable[[Output], None]) -> None:
        """In a forked copy of the worker, discard unfinished lines and send to `send` instead."""
        self._send = send
        for writer in self.writers:
            writer.forget()

    def end(self, run: str) -> None:
        """Send a run's unfinished lines, report how much was dropped, and forget its share."""
        self.flush()
        dropped = self._sizes.get(run, 0) - MAX_PER_RUN
        if dropped > 0:
            self.say(
                "stderr", f"… output truncated: about {dropped:,} more characters", urgent=True
            )
        self._sizes.pop(run, None)


class LineWriter(io.TextIOBase):
    """A text stream that passes on whole lines, for `sys.stdout` and `sys.stderr`.

    It has the descriptor of the stream that it replaces: a child process that is given the stream,
    such as the server of an MCP toolset, writes there.
    """

    def __init__(self, outputs: Outputs, stream: str, descriptor: int) -> None:
        self._outputs = outputs
        self._stream = stream
        self._descriptor = descriptor
        self._line_starts: dict[str | None, str] = {}

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has it as a plain attribute
        """UTF-8; nothing is encoded here."""
        return "utf-8"

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor for child processes, whose output the server also reads."""
        return self._descriptor

    def write(self, text: str, /) -> int:
        """Send complete lines at once; keep the rest until its line ends."""
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
        """Send the current run's unfinished line, if any."""
        if start := self._line_starts.pop(current_run.get(), ""):
            self._outputs.say(self._stream, start)

    def forget(self) -> None:
        """Discard all unfinished lines."""
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
    """Send everything that this process prints or logs from now on to `outputs`."""
    outputs.writers = [
        LineWriter(outputs, name, descriptor) for name, descriptor in _DESCRIPTORS.items()
    ]
    sys.stdout, sys.stderr = outputs.writers
    root = logging.getLogger()
    root.addHandler(LogHandler(outputs))
    root.setLevel(logging.INFO)
