"""The address of a data folder's server, for programs of the same user on this machine.

It is a small JSON file next to the journal, readable only by its owner (R10). The key to the server
is stored elsewhere, by `keys` (docs/decisions/0007).
"""

import json
import os
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_SECONDS: Final = 2.0
"""How long to wait for a server to accept a connection, in seconds."""

FILE = "server.json"
_NEW = "server.json.new"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The process and URL of a server."""

    pid: int
    url: str = ""
    """`http://127.0.0.1:8000`; "" until the server has opened its journal."""

    @property
    def is_gone(self) -> bool:
        """Whether the server was killed and left the file behind.

        Either its process is gone, or nothing listens at the URL: the process id belongs to another
        process by now, or to a zombie.
        """
        return not exists(self.pid) or (bool(self.url) and _refuses(self.url))


def write_address(folder: Path, address: ServerAddress) -> None:
    """Write the file atomically, so that nobody reads a partial one."""
    new = folder / _NEW
    try:
        create_private(new)
        new.write_text(json.dumps(asdict(address)) + "\n", encoding="utf-8")
        new.replace(folder / FILE)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read_address(folder: Path) -> ServerAddress | None:
    """Return the address in the file; None if it is missing or unreadable."""
    try:
        entry = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return ServerAddress(pid=int(entry["pid"]), url=str(entry["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove_address(folder: Path) -> None:
    """Delete the file, if it exists."""
    (folder / FILE).unlink(missing_ok=True)


def exists(pid: int) -> bool:
    """Return whether a process has this id; always True on Windows."""
    if sys.platform == "win32":  # os.kill would terminate the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _refuses(url: str) -> bool:
    place = urlsplit(url)
    try:
        with socket.create_connection((place.hostname, place.port), timeout=_SECONDS):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:  # inconclusive: the next request to the server will report the failure
        return False


def create_private(path: Path) -> None:
    """Create an empty file with mode 0600; keep the content of an existing one."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    os.close(descriptor)
    path.chmod(PRIVATE_FILE)
