"""Where the key to a data folder's server is kept: not in that folder, which agents work around.

A file of the user's alone (R10) in the first of a few folders that takes one. Its name tells the
data folder and the process; it dies with that, and the next server takes away what is left (R09,
docs/decisions/0007).
"""

import json
import os
import platform
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from devui.address import PRIVATE_FOLDER, create_private, exists


def keep_key(folder: Path, key: str) -> bool:
    """Keep this process's key to the data folder; False if there is no place for it."""
    entry = {"pid": os.getpid(), "host": platform.node(), "folder": str(folder), "key": key}
    for place in _places():
        with suppress(OSError):
            _prepare(place)
            _sweep(place)
            _write(place / _name(folder, os.getpid()), json.dumps(entry) + "\n")
            return True
    return False


def _write(file: Path, text: str) -> None:
    """Write the file or leave none: an empty one would stand before the next place's."""
    try:
        create_private(file)
        file.write_text(text, encoding="utf-8")
    except OSError:
        file.unlink(missing_ok=True)
        raise


def kept_key(folder: Path, pid: int) -> str:
    """The key that this process keeps to the data folder; "" without one."""
    file = key_file(folder, pid)
    return "" if file is None else str(_entry(file).get("key", ""))


def key_file(folder: Path, pid: int) -> Path | None:
    """The file with that key; None without one."""
    files = (place / _name(folder, pid) for place in _places() if _is_ours(place))
    return next((file for file in files if file.is_file()), None)


def forget_key(folder: Path) -> None:
    """Take this process's key to the data folder away; one that is not there is no error."""
    if (file := key_file(folder, os.getpid())) is not None:
        file.unlink(missing_ok=True)


def _places() -> Iterator[Path]:
    """Folders for keys, the best first; a server and a terminal may see different variables."""
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and runtime.is_dir():
        yield runtime / "devui"
    if (state := Path(os.environ.get("XDG_STATE_HOME", ""))).is_absolute():
        yield state / "devui"
    with suppress(RuntimeError):  # no HOME, and a user whom the system does not know
        yield Path.home() / ".local" / "state" / "devui"
    with suppress(OSError):  # no folder for temporary files, either
        if sys.platform != "win32":
            yield Path(tempfile.gettempdir()) / f"devui-{os.geteuid()}"


def _prepare(place: Path) -> None:
    """Make the folder. Raises OSError if it cannot be made or is somebody else's."""
    place.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    if not _is_ours(place):
        raise PermissionError(f"{place} is not a folder of this user")
    place.chmod(PRIVATE_FOLDER)


def _is_ours(place: Path) -> bool:
    try:
        stats = place.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(stats.st_mode) and (sys.platform == "win32" or stats.st_uid == os.geteuid())


def _sweep(place: Path) -> None:
    """Take away what servers left that were killed; another machine may share the folder."""
    for file in place.glob("*.json"):
        entry = _entry(file)
        if entry.get("host") == platform.node() and not exists(entry["pid"]):
            file.unlink(missing_ok=True)


def _entry(file: Path) -> dict[str, Any]:
    """What a file of ours says; nothing of one that cannot be read."""
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        return {"pid": int(entry["pid"]), "host": str(entry["host"]), "key": str(entry["key"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _name(folder: Path, pid: int) -> str:
    return f"{sha256(os.fsencode(folder.resolve())).hexdigest()[:32]}-{pid}.json"
