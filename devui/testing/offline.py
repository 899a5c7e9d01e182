"""Refuses connections for `devui test`, whatever makes them: a test, an agent's module, a library.

What is played refuses connections anyway; only while a run is recorded anew may its models and
tools make some. A hook of Python's audit events can't be taken away again.
"""

import socket
import sys
from typing import Any, Final

from devui.testing.refreshing import is_recording
from devui.worker.replay.network import is_guarded

_REFUSED: Final = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo"})
_hooks: Final[list[bool]] = []


class NoNetwork(ConnectionRefusedError):
    """A test tried to reach something."""


def refuse_connections() -> None:
    """Refuse them from here on, in this process."""
    if not _hooks:
        _hooks.append(True)
        sys.addaudithook(_refuse)


def is_offline() -> bool:
    """Whether connections are refused in this process."""
    return bool(_hooks)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in _REFUSED or is_guarded() or is_recording():
        return  # a replay refuses by itself, and remembers it
    if event != "socket.getaddrinfo" and args[0].family not in {socket.AF_INET, socket.AF_INET6}:
        return  # a socket of this machine's own
    target = args[0] if event == "socket.getaddrinfo" else args[1]
    raise NoNetwork(f"`devui test` makes no connections; something connects to {target}")
