"""Child processes that end with this one, also when it is killed (devui's own)."""

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
"""Begins the program of a child that leads a group: its last argument is the pipe to read from."""


@contextlib.contextmanager
def lifeline() -> Iterator[int]:
    """A pipe to read from that ends with this process, or when the work is done."""
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)
