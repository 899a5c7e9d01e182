"""How long a test waits for what has to come: no test is decided by how fast its machine is."""

import time
from collections.abc import Callable

PATIENCE = 120
"""Seconds. Only a test that fails ever waits so long."""


def wait_until(true: Callable[[], object]) -> None:
    """Wait for what has to come; fail if it does not."""
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)
