"""Refuses all connections for `devui test`: those of tests, agents' modules and libraries.

Replays refuse connections anyway. Only a run that is being recorded again may make connections, by
its models and tools. Python's audit hooks can't be removed, so this lasts as long as the process.
"""

import socket
import sys
from typing import Any, Final

from devui.testing.refreshing import is_recording
from devui.worker.replay.network import is_guarded

_REFUSED: Final = frozenset({"socket.connect", "socket.sendto", "socket.getaddrinfo"})
_hooks: Final[list[bool]] = []


class NoNetwork(ConnectionRefusedError):
    """A test tried to open a connection."""


def refuse_connections() -> None:
    """Refuse connections from now on in this process."""
    if not _hooks:
        _hooks.append(True)
        sys.addaudithook(_refuse)


def is_offline() -> bool:
    """Return whether connections are refused in this process."""
    return bool(_hooks)


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    if event not in _REFUSED or is_guarded() or is_recording():
        return  # a replay refuses connections itself, and records that it did
    if event != "socket.getaddrinfo" and args[0].family not in {socket.AF_INET, socket.AF_INET6}:
        return  # a local socket
    target = args[0] if event == "socket.getaddrinfo" else args[1]
    raise NoNetwork(f"`devui test` blocks connections; something tried to connect to {target}")
