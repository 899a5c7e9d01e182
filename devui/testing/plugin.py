"""A plugin of pytest for `devui test`: no test makes a connection to anywhere.

Only while a run is recorded anew may its models and tools.

What is played refuses connections anyway; this is for what tests and agents' modules do besides.
"""

import socket
import sys
from typing import Any

from devui.testing.refreshing import is_recording
from devui.worker.replay.network import guarded

_REFUSED = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo"})


class NoNetwork(ConnectionRefusedError):
    """A test tried to reach something."""


def pytest_configure() -> None:
    """Refuse connections from here on, in this process."""
    sys.addaudithook(_refuse)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in _REFUSED or guarded() or is_recording():
        return  # a replay refuses by itself, and remembers it
    if event != "socket.getaddrinfo" and args[0].family not in {socket.AF_INET, socket.AF_INET6}:
        return  # a socket of this machine's own
    target = args[0] if event == "socket.getaddrinfo" else args[1]
    raise NoNetwork(f"`devui test` makes no connections; something connects to {target}")
