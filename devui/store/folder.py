"""The data folder: ours alone, readable by its owner alone, held by one server at a time.

Modes are exact whatever the umask is (R10). The lock lasts as long as the process, so that one that
was killed leaves nothing to clean up; a second server is told where the first one is (R39).
"""

import logging
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
from devui.keys import forget_key, keep_key
from devui.store.errors import FolderRefused, JournalInUse
from devui.store.lock import FileLock

_LOG = logging.getLogger(__name__)

DATABASE = "journal.db"
_LOCK = "journal.lock"


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
        _tell(path, ServerAddress(pid=os.getpid()))
        return cls(path, lock)

    def announce(self, url: str, key: str) -> bool:
        """Tell programs of the same user where this server is, and what lets them in, if anything.

        False if the key can be kept nowhere: then they have to be given a token.
        """
        kept = not key or keep_key(self.path, key)
        _tell(self.path, ServerAddress(pid=os.getpid(), url=url))
        return kept

    def release(self) -> None:
        """Give the folder back; twice is harmless, also when another server has it by now."""
        if self._lock.held:
            remove_address(self.path)
            forget_key(self.path)
            self._lock.release()


def _tell(path: Path, address: ServerAddress) -> None:
    """Write where the server is. What a full disk has of sessions is to be read nevertheless."""
    try:
        write_address(path, address)
    except OSError as error:
        remove_address(path)  # of the server before, which is gone
        if not (path / DATABASE).is_file():
            raise
        _LOG.warning("programs do not find this server in %s: %s", path, error.strerror)


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
