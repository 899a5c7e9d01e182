"""Where the server of a data folder listens, for programs of the same user on this machine.

A small JSON file beside the journal, which the owner alone may read (R10). What lets a program in
is kept elsewhere, by `keys` (docs/decisions/0007).
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
"""How long a server may take to accept a connection before nothing is known of it."""

FILE = "server.json"
_NEW = "server.json.new"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """What a server says of itself."""

    pid: int
    url: str = ""
    """`http://127.0.0.1:8000`; "" as long as it has not opened its journal."""

    @property
    def is_gone(self) -> bool:
        """Whether the file was left by a server that was killed: no such process exists, or it is
        another one that has its number by now, or what is left of it, and nobody listens."""
        return not exists(self.pid) or (bool(self.url) and _refuses(self.url))


def write_address(folder: Path, address: ServerAddress) -> None:
    """Write the file whole, so that nobody reads half of it."""
    new = folder / _NEW
    try:
        create_private(new)
        new.write_text(json.dumps(asdict(address)) + "\n", encoding="utf-8")
        new.replace(folder / FILE)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def read_address(folder: Path) -> ServerAddress | None:
    """What the file says; None without one, or with one that cannot be read."""
    try:
        entry = json.loads((folder / FILE).read_text(encoding="utf-8"))
        return ServerAddress(pid=int(entry["pid"]), url=str(entry["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove_address(folder: Path) -> None:
    """Take the file away; one that is not there is no error."""
    (folder / FILE).unlink(missing_ok=True)


def exists(pid: int) -> bool:
    """Whether there is such a process on this machine."""
    if sys.platform == "win32":  # os.kill would end the process there
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
    except OSError:  # it may be there all the same: whoever asks it something is told
        return False


def create_private(path: Path) -> None:
    """Create an empty file with mode 0600; leave an existing one's content alone."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
    os.close(descriptor)
    path.chmod(PRIVATE_FILE)
