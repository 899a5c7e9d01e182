"""What holds for every test: no network, no deadline that a busy machine would miss."""

import sys
from typing import Any

import hypothesis
import pytest

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


def refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Let no test of this process reach another machine (child processes are not watched)."""
    if event == "socket.connect":
        address = args[1]
        host = str(address[0]) if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = str(args[0] or "")
    else:
        return
    if host and not host.startswith(LOOPBACK):
        pytest.fail(f"a test tried to reach {host!r}; tests run without a network")


sys.addaudithook(refuse_network)

hypothesis.settings.register_profile("devui", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("devui")
