"""Copies what agents print to the pages, while the terminal or notebook still shows it.

The output of a run also goes to the server. Context variables tell which run it is, so the
process's other output goes only where it did before.
"""

import logging
import sys
from contextvars import ContextVar
from typing import Any, TextIO

from devui.worker.output import LineWriter, LogHandler, Outputs, current_run

_outputs: ContextVar[Outputs | None] = ContextVar("devui_outputs", default=None)
"""The outputs of the app whose code is executing."""
_STREAMS = ("stdout", "stderr")


def join(outputs: Outputs) -> None:
    """Attribute the output of this task, and of those it starts, to an app."""
    outputs.writers = [LineWriter(outputs, name, -1) for name in _STREAMS]
    _outputs.set(outputs)


class Tee:
    """A wrapper of a stream of the process that also forwards the output of runs.

    All other attributes are the stream's, so that debuggers find the terminal they need.
    """

    def __init__(self, stream: TextIO, number: int) -> None:
        """Wrap `stream`; `number` is the index of its writer in `Outputs.writers`."""
        self.stream = stream
        self._number = number

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str, /) -> int:
        """Write the text, and forward it if a run wrote it."""
        outputs = _outputs.get()
        if outputs is not None and current_run.get() is not None:
            outputs.writers[self._number].write(text)
        return self.stream.write(text)


class _RunLogHandler(logging.Handler):
    """Forwards the log records of runs; the process's own handlers still get them."""

    def emit(self, record: logging.LogRecord) -> None:
        outputs = _outputs.get()
        if outputs is not None and current_run.get() is not None:
            LogHandler(outputs).emit(record)


class OutputForwarder:
    """Forwards the streams and the log of this process between `start` and `stop`."""

    def __init__(self) -> None:
        self._handler = _RunLogHandler()
        self._tees: tuple[Tee, Tee] | None = None

    def start(self) -> None:
        """Wrap both streams in a `Tee`, and add a log handler."""
        self._tees = Tee(sys.stdout, 0), Tee(sys.stderr, 1)
        sys.stdout, sys.stderr = self._tees
        logging.getLogger().addHandler(self._handler)

    def stop(self) -> None:
        """Restore the streams, unless they have been replaced by others meanwhile."""
        logging.getLogger().removeHandler(self._handler)
        if self._tees is not None:
            out, err = self._tees
            sys.stdout = out.stream if sys.stdout is out else sys.stdout
            sys.stderr = err.stream if sys.stderr is err else sys.stderr
