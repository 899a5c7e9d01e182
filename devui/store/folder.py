"""The data folder: ours alone, readable by its owner alone, held by one server at a time.

Modes are exact whatever the umask is (R10). The lock lasts as long as the process, so that one that
was killed leaves nothing to clean up; a second server is told where the first one is (R39).
"""

import os
import stat
import sys
from pathlib import Path

from devui.address import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    ServerAddress,
    create_private,
    read_address,
    remove_address,
    write_address,
)
from devui.keys import forget_key, keep_key, kept_key
from devui.store.errors import FolderRefused, JournalInUse
from devui.store.lock import FileLock

DATABASE = "journal.db"
_LOCK = "journal.lock"
_NO_PLACE = (
    "no folder of this user takes the key by which `devui dbg` and other commands get in: start"
    " the server with DEVUI_TOKEN, and give them the same"
)


class DataFolder:
    """A data folder that this process holds until `release`."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        self.path = path
        self.database = path / DATABASE
        self._lock = lock

    @classmethod
    def claim(cls, path: Path) -> "DataFolder":
        """Prepare the folder and take its lock.

        Raises FolderRefused for a folder we must not use, JournalInUse when another server has it.
        """
        try:
            return cls._claim(path)
        except OSError as error:
            raise FolderRefused(
                f"the data folder {str(path)!r} cannot be used: {error.strerror}; "
                "mend that, or choose another one with --data-dir"
            ) from error

    @classmethod
    def _claim(cls, path: Path) -> "DataFolder":
        _prepare(path)
        lock = FileLock(path / _LOCK, PRIVATE_FILE)
        if not lock.take():
            raise JournalInUse(
                f"the data folder {str(path)!r} is in use by {_holder(path)}; "
                "stop that server or choose another folder with --data-dir"
            )
        _tighten(path)
        try:
            _tell(path, ServerAddress(pid=os.getpid()))
        except OSError:
            if not (path / DATABASE).is_file():
                raise
            # What a full disk has of sessions is to be read nevertheless.
        return cls(path, lock)

    def announce(self, url: str, key: str) -> list[str]:
        """Tell programs of the same user where this server is, and what lets them in, if anything.

        Returns what could not be told, in words for people; the same again tells the rest.
        """
        missing = []
        if key and kept_key(self.path, os.getpid()) != key and not keep_key(self.path, key):
            missing.append(_NO_PLACE)
        try:
            _tell(self.path, ServerAddress(pid=os.getpid(), url=url))
        except OSError as error:
            missing.append(f"programs do not find this server in {self.path}: {error.strerror}")
        return missing

    def release(self) -> None:
        """Give the folder back; twice is harmless, also when another server has it by now."""
        if self._lock.held:
            remove_address(self.path)
            forget_key(self.path)
            self._lock.release()


def _tell(path: Path, address: ServerAddress) -> None:
    """Write where the server is, if it is not there; else nothing is. Raises OSError."""
    if read_address(path) == address:
        return
    try:
        write_address(path, address)
    except OSError:
        remove_address(path)  # of the server before, which is gone
        raise


def _prepare(path: Path) -> None:
    if path.is_symlink():
        raise FolderRefused(
            f"the data folder {str(path)!r} is a symbolic link; name the folder it points to"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    except FileExistsError:
        raise FolderRefused(
            f"{str(path)!r} is not a folder; choose another one with --data-dir"
        ) from None
    _check_owner(path)
    path.chmod(PRIVATE_FOLDER)
    # Only in a folder that is ours from the start: it must not hide someone's own files from git.
    if not any(path.iterdir()):
        create_private(path / ".gitignore")
        (path / ".gitignore").write_text("*\n")


def _check_owner(path: Path) -> None:
    if sys.platform != "win32" and path.stat().st_uid != os.geteuid():
        raise FolderRefused(
            f"the data folder {str(path)!r} belongs to user {path.stat().st_uid}, not to you; "
            "choose another one with --data-dir"
        )


def _tighten(path: Path) -> None:
    """Take the group's and the others' rights from files an older version or a copy left open."""
    for file in path.glob("journal.*"):
        if not file.is_symlink() and stat.S_ISREG(file.stat().st_mode):
            file.chmod(PRIVATE_FILE)


def _holder(path: Path) -> str:
    address = read_address(path)
    if address is None:
        return "another process"
    return f"process {address.pid}" + (f" at {address.url}" if address.url else "")
