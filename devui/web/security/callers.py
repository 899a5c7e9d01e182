"""Finds the app that a connection came from, on Linux (R09)."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TABLES: Final = (_PROC / "net" / "tcp", _PROC / "net" / "tcp6")
_INODE: Final = 9
"""The column of a socket's inode number, see proc(5)."""


def app_of(near: int, far: int, groups: Mapping[int, str]) -> str | None:
    """Return the app that holds the connection from port `near` to port `far` of this machine.

    `groups` maps process groups to apps. None for other programs, and if the system doesn't tell.
    """
    socket = _socket(near, far)
    if socket is None:
        return None
    for process in _PROC.glob("[0-9]*"):
        with suppress(OSError):  # the process has ended in the meantime
            group = os.getpgid(int(process.name))
            if group in groups and _holds(process, socket):
                return groups[group]
    return None


def _socket(near: int, far: int) -> str | None:
    """Return the link target of the descriptors for the connection's near end."""
    ends = f"{near:04X}", f"{far:04X}"
    for table in _TABLES:
        with suppress(OSError):
            for line in table.read_text(encoding="ascii").splitlines()[1:]:
                columns = line.split()
                if tuple(place.rpartition(":")[2] for place in columns[1:3]) == ends:
                    return f"socket:[{columns[_INODE]}]"
    return None


def _holds(process: Path, socket: str) -> bool:
    for descriptor in (process / "fd").iterdir():
        with suppress(OSError):  # it was closed in the meantime
            if str(descriptor.readlink()) == socket:
                return True
    return False
