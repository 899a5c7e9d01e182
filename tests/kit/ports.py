"""The port that devui uses by default, while somebody else has it."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from devui.settings import DEFAULT_PORT

_SECONDS = 10
"""Another test releases the port within this time; a developer's own server doesn't."""


@contextmanager
def default_port_taken() -> Iterator[int]:
    """Keep the port taken inside the block."""
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
