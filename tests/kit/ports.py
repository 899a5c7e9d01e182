"""The port that devui takes when none is asked for, where somebody else has it."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from devui.settings import DEFAULT_PORT

_SECONDS = 10
"""Another test that has it lets it go by then; a server of the developer's own does not."""


@contextmanager
def default_port_taken() -> Iterator[int]:
    """Meanwhile nobody can have the port."""
    until = time.monotonic() + _SECONDS
    with ExitStack() as listeners:
        while time.monotonic() < until:
            try:
                listeners.enter_context(socket.create_server(("127.0.0.1", DEFAULT_PORT)))
            except OSError:
                time.sleep(0.05)
            else:
                break
        yield DEFAULT_PORT
