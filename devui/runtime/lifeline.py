"""Child processes that end with this process, even if it is killed (devui's own)."""

import contextlib
import os
from collections.abc import Iterator

WATCH = """\
import os, signal, sys, threading

def watch(pipe):
    os.read(pipe, 1)
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=watch, args=(int(sys.argv.pop()),), daemon=True).start()
"""
"""The start of a program for a child that leads a group; its last argument is the pipe to read."""


@contextlib.contextmanager
def lifeline() -> Iterator[int]:
    """Open a pipe that closes with this process or block, and yield the end to read from."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)
