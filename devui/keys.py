"""The key to a data folder's server, stored outside that folder because agents work around it.

It is a file that only the user can read (R10), in the first writable one of several folders.
Its name identifies the data folder and the process. It is deleted with the process; the next server
deletes any that are left over (R09, docs/decisions/0007).
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
    """Store this process's key to the data folder; return False if no folder takes it."""
    entry = {"pid": os.getpid(), "host": platform.node(), "folder": str(folder), "key": key}
    for place in _places():
        with suppress(OSError):
            _prepare(place)
            _sweep(place)
            _write(place / _name(folder, os.getpid()), json.dumps(entry) + "\n")
            return True
    return False


def _write(file: Path, text: str) -> None:
    """Write the file, or remove it on failure: an empty one would hide the one elsewhere."""
    try:
        create_private(file)
        file.write_text(text, encoding="utf-8")
    except OSError:
        file.unlink(missing_ok=True)
        raise


def kept_key(folder: Path, pid: int) -> str:
    """Return the process's key to the data folder; "" if there is none."""
    file = key_file(folder, pid)
    return "" if file is None else str(_entry(file).get("key", ""))


def key_file(folder: Path, pid: int) -> Path | None:
    """Return the file with the process's key to the data folder, if there is one."""
    files = (place / _name(folder, pid) for place in _places() if _is_ours(place))
    return next((file for file in files if file.is_file()), None)


def forget_key(folder: Path) -> None:
    """Delete this process's key to the data folder, if there is one."""
    if (file := key_file(folder, os.getpid())) is not None:
        file.unlink(missing_ok=True)


def _places() -> Iterator[Path]:
    """Yield the folders for keys, best first.

    There are several because a server and a terminal may have different environment variables.
    """
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if runtime.is_absolute() and runtime.is_dir():
        yield runtime / "devui"
    if (state := Path(os.environ.get("XDG_STATE_HOME", ""))).is_absolute():
        yield state / "devui"
    with suppress(RuntimeError):  # no HOME, and the user isn't in the password database
        yield Path.home() / ".local" / "state" / "devui"
    with suppress(OSError):  # no folder for temporary files either
        if sys.platform != "win32":
            yield Path(tempfile.gettempdir()) / f"devui-{os.geteuid()}"


def _prepare(place: Path) -> None:
    """Create the folder; raise OSError if that fails or it belongs to somebody else."""
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
    """Delete the keys of killed servers, but only of this machine: others may share the folder."""
    for file in place.glob("*.json"):
        entry = _entry(file)
        if entry.get("host") == platform.node() and not exists(entry["pid"]):
            file.unlink(missing_ok=True)


def _entry(file: Path) -> dict[str, Any]:
    """Return the content of a key file; an empty dict if it can't be read."""
    try:
        entry = json.loads(file.read_text(encoding="utf-8"))
        return {"pid": int(entry["pid"]), "host": str(entry["host"]), "key": str(entry["key"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _name(folder: Path, pid: int) -> str:
    return f"{sha256(os.fsencode(folder.resolve())).hexdigest()[:32]}-{pid}.json"
