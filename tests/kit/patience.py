"""How long tests wait for what must happen: no result depends on the machine's speed."""

import time
from collections.abc import Callable

PATIENCE = 120
"""Seconds. Only a failing test waits this long."""


def wait_until(true: Callable[[], object]) -> None:
    """Wait until `true` returns a true value; fail if it never does."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
