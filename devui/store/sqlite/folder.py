"""The data folder: ours alone, readable by its owner alone, held by one server at a time.

Locks end with their process, however that ends (R39). The server checks whether the journal's files
are those that the next server will find, and writable (R42). SQLite's log needs memory that
all who use the file share, and locks that hold; on a network disk there may be neither (R46;
https://sqlite.org/wal.html, https://sqlite.org/howtocorrupt.html).
"""

import errno
import fcntl
import os
import re
import sqlite3
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

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
from devui.store.errors import (
    FolderRefused,
    JournalFailed,
    JournalGone,
    JournalInUse,
    JournalLogGone,
    from_sqlite,
)
from devui.store.sqlite.schema import examine, load_migrations, read_only


class FileLock:
    """Held from `take` to `release`; each object is a holder of its own, also in one process."""

    def __init__(self, path: Path, mode: int) -> None:
        """`path` is made with `mode` if it is not there, and stays: to remove it would let two
        processes hold locks on two files of one name."""
        self._path = path
        self._mode = mode
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object has the lock."""
        return self._file is not None

    def take(self) -> bool:
        """Take the lock without waiting; whether that worked. Raises OSError."""
        file = self._open()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        except OSError:
            os.close(file)
            raise
        self._file = file
        return True

    def release(self) -> None:
        """Let others have it; nothing if it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        # Closed on exec, so that no worker goes on holding it.
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | flags, self._mode)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            return os.open(self._path, os.O_RDONLY | flags)


class FolderLock(FileLock):
    """The same of a folder, which is there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, 0)

    def take(self) -> bool:
        """Take the lock without waiting; False only if another holder has it."""
        try:
            return super().take()
        except OSError:
            return True

    def _open(self) -> int:
        return os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


_BESIDE = ("-wal", "-shm")
"""SQLite's log, which holds what was committed last, and its index."""


class Files:
    """The journal's file and what SQLite keeps beside it, as they were when they were opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = [path.with_name(path.name + suffix) for suffix in _BESIDE]
        self._identities: dict[Path, tuple[int, int]] = {}

    def remember(self) -> None:
        """Those that are there now are the ones; what is not there is not looked for."""
        identities = {path: _identity(path) for path in (self._path, *self._beside)}
        self._identities = {path: identity for path, identity in identities.items() if identity}

    def check(self) -> None:
        """Raise JournalGone if the journal is not in its place, JournalLogGone if only a file
        beside it is not."""
        if self._is_gone(self._path):
            raise JournalGone(
                f"the journal {str(self._path)!r} was moved or deleted while the server ran: put it"
                " back, or restart devui to begin a new one"
            )
        for path in self._beside:
            if self._is_gone(path):
                raise JournalLogGone(
                    f"{str(path)!r}, which belongs to the journal, was moved or deleted while the"
                    " server ran: restart devui; what was committed before is in the journal"
                )

    def _is_gone(self, path: Path) -> bool:
        return path in self._identities and _identity(path) != self._identities[path]


def require_writable(path: Path) -> None:
    """Raise JournalFailed for a file that this process may not write, as on a read-only disk.

    SQLite opens that all the same, and refuses the first change.
    """
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise JournalFailed(
            f"the journal {str(path)!r} cannot be written: check the disk and the permissions of "
            "the data folder"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of its name; None without one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


MOUNTS = Path("/proc/self/mountinfo")
"""Which file system is where (proc_pid_mountinfo(5)); only Linux has it."""

_SYNCED: Final = frozenset({"Dropbox", "Google Drive", "OneDrive", "iCloud Drive", "Nextcloud"})
_OF_THE_NETWORK: Final = frozenset(
    {"afs", "ceph", "cifs", "davfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"}
    | {"fuse.sshfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


class Danger(NamedTuple):
    """Something about the place of a data folder."""

    what: str
    """What is the matter with the folder, as the end of a sentence that begins with it."""
    why: str
    """What may come of it, and what to do."""


def dangers(folder: Path) -> Iterator[Danger]:
    """What endangers a journal in this folder, which exists."""
    place = folder.resolve()
    for synced in sorted(_SYNCED & set(place.parts)):
        yield Danger(
            f"is inside {synced}",
            "Programs that copy the journal while it is in use can damage it. Move the folder.",
        )
    kind = _file_system(place)
    if kind in _OF_THE_NETWORK:
        yield Danger(
            f"is on a network disk ({kind})",
            "SQLite can lose writes there or damage the journal. Move the folder to a disk of "
            "this machine.",
        )


def _file_system(place: Path) -> str:
    """The kind of the file system that a folder is on; "" if nobody tells."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    kind, depth = "", 0
    for line in lines:
        about, _, details = line.partition(" - ")
        mounted = Path(_ESCAPED.sub(_character, about.split(" ")[4]))
        # Of two at one place the later one hides the earlier one.
        if place.is_relative_to(mounted) and len(mounted.parts) >= depth:
            kind, depth = details.split(" ")[0], len(mounted.parts)
    return kind


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 8))


DATABASE = "journal.db"
_LOCK = "journal.lock"
_NO_PLACE = (
    "no folder of this user takes the key by which `devui dbg` and other commands get in: start"
    " the server with DEVUI_TOKEN, and give them the same"
)


class DataFolder:
    """A data folder that this process holds until `release`."""

    def __init__(self, path: Path, locks: Sequence[FileLock]) -> None:
        self.path = path
        self.database = path / DATABASE
        self._locks = locks
        self._ours = True

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
        locks = _lock(path)
        _tighten(path)
        try:
            _tell(path, ServerAddress(pid=os.getpid()))
        except OSError:
            if not (path / DATABASE).is_file():
                raise
            # What a full disk has of sessions is to be read nevertheless.
        return cls(path, locks)

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
        if self._ours:
            self._ours = False
            with suppress(OSError):  # the disk may be read-only
                remove_address(self.path)
            forget_key(self.path)
            for lock in self._locks:
                lock.release()


def _lock(path: Path) -> list[FileLock]:
    """Take what keeps other servers out of the folder. Raises JournalInUse, OSError."""
    locks = [FolderLock(path), FileLock(path / _LOCK, PRIVATE_FILE)]
    for lock in locks:
        try:
            is_ours = lock.take()
        except FileNotFoundError:  # on a read-only disk, where nobody can be kept from writing
            is_ours = True
        if not is_ours:
            for each in locks:
                each.release()
            raise JournalInUse(
                f"the data folder {str(path)!r} is in use by {_holder(path)}; "
                "stop that server or choose another folder with --data-dir"
            )
    return locks


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
    _restrict(path, PRIVATE_FOLDER)
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
            _restrict(file, PRIVATE_FILE)


def _restrict(path: Path, mode: int) -> None:
    """Set the mode; on a read-only disk it stays, which `devui doctor` tells of."""
    try:
        path.chmod(mode)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise


def _holder(path: Path) -> str:
    address = read_address(path)
    if address is None:
        return "another process"
    return f"process {address.pid}" + (f" at {address.url}" if address.url else "")


def back_up(folder: Path, target: Path) -> Path:
    """Copy the journal of a data folder into a new one; return the copy's file.

    The copy is a journal of its own: a server on it is told from one on the first. Raises
    FolderRefused for a target that holds something, JournalErrors for a journal that is none or
    cannot be read.
    """
    source = folder / DATABASE
    examine(source, load_migrations()[-1].version)
    try:
        target.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise FolderRefused(f"{str(target)!r} is not empty: name a folder that is, or none yet")
        target.chmod(PRIVATE_FOLDER)
        create_private(target / DATABASE)
    except OSError as error:
        raise FolderRefused(f"{str(target)!r} cannot be made: {error.strerror}") from error
    try:
        with (
            closing(read_only(source)) as journal,
            closing(sqlite3.connect(target / DATABASE)) as copy,
        ):
            journal.backup(copy)
    except sqlite3.Error as error:
        raise from_sqlite(error, str(source)) from error
    return target / DATABASE
