"""Lets the pages have what agents print, and the terminal or notebook keep it.

Lines of a run also go to the server; which run it is, context variables say, so what other code of
the process prints goes nowhere else than before.
"""

import logging
import sys
from contextvars import ContextVar
from typing import Any, TextIO

from devui.worker.output import LineWriter, LogHandler, Outputs, current_run

_outputs: ContextVar[Outputs | None] = ContextVar("devui_outputs", default=None)
"""Of the app whose code is executing."""
_STREAMS = ("stdout", "stderr")


def join(outputs: Outputs) -> None:
    """Let what this task and those it starts print belong to an app."""
    outputs.writers = [LineWriter(outputs, name, -1) for name in _STREAMS]
    _outputs.set(outputs)


class Tee:
    """A stream of the process that also hands on what runs write.

    Everything else is that of the stream: a debugger finds the terminal it needs.
    """

    def __init__(self, stream: TextIO, number: int) -> None:
        """`number`: the place of the stream's writer among those of an app."""
        self.stream = stream
        self._number = number

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str, /) -> int:
        """Write, and hand on what a run says."""
        outputs = _outputs.get()
        if outputs is not None and current_run.get() is not None:
            outputs.writers[self._number].write(text)
        return self.stream.write(text)


class _OfRuns(logging.Handler):
    """Hands on the log records of runs; where else they go is for the process to say."""

    def emit(self, record: logging.LogRecord) -> None:
        outputs = _outputs.get()
        if outputs is not None and current_run.get() is not None:
            LogHandler(outputs).emit(record)


class Overhearing:
    """The streams and the log of this process, between `start` and `stop`."""

    def __init__(self) -> None:
        self._handler = _OfRuns()
        self._tees: tuple[Tee, Tee] | None = None

    def start(self) -> None:
        """Put a `Tee` around both streams."""
        self._tees = Tee(sys.stdout, 0), Tee(sys.stderr, 1)
        sys.stdout, sys.stderr = self._tees
        logging.getLogger().addHandler(self._handler)

    def stop(self) -> None:
        """Put the streams back, unless others have taken their place meanwhile."""
        logging.getLogger().removeHandler(self._handler)
        if self._tees is not None:
            out, err = self._tees
            sys.stdout = out.stream if sys.stdout is out else sys.stdout
            sys.stderr = err.stream if sys.stderr is err else sys.stderr
