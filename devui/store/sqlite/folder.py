"""The data folder: used only by devui, readable only by its owner, held by one server at a time.

A lock ends with its process, however that ends (R39). The server checks that the journal's files
are writable, and still the ones that the next server will find (R42). SQLite's log needs memory
shared by all users of the file, and locks that work; a network disk may offer neither (R46;
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
    """An exclusive lock on a file, held from `take` to `release`.

    Each object is a separate holder, even within one process.
    """

    def __init__(self, path: Path, mode: int) -> None:
        """Lock `path`; a missing file is created with `mode`.

        The file is never removed, since two processes could then hold locks on two files with the
        same name.
        """
        self._path = path
        self._mode = mode
        self._file: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._file is not None

    def take(self) -> bool:
        """Take the lock without waiting; return whether that succeeded. Raises OSError."""
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
        """Release the lock, if held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        # Close-on-exec, so that workers don't inherit the lock.
        flags = os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | flags, self._mode)
        except OSError as error:
            if error.errno != errno.EROFS:
                raise
            return os.open(self._path, os.O_RDONLY | flags)


class FolderLock(FileLock):
    """An exclusive lock on an existing folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, 0)

    def take(self) -> bool:
        """Take the lock without waiting; return False only if another holder has it.

        Returns True even if the file system can't lock the folder.
        """
        try:
            return super().take()
        except OSError:
            return True

    def _open(self) -> int:
        return os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


_BESIDE = ("-wal", "-shm")
"""SQLite's log, with the latest commits, and the log's index."""


class Files:
    """The identities of the journal's file and its log files, as of when they were opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._beside = [path.with_name(path.name + suffix) for suffix in _BESIDE]
        self._identities: dict[Path, tuple[int, int]] = {}

    def remember(self) -> None:
        """Record the identities of the files that exist now; `check` ignores the others."""
        identities = {path: _identity(path) for path in (self._path, *self._beside)}
        self._identities = {path: identity for path, identity in identities.items() if identity}

    def check(self) -> None:
        """Raise JournalGone if the journal was moved, deleted or replaced, JournalLogGone if only a
        log file was."""
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
    """Raise JournalFailed if this process can't write the file, for instance on a read-only disk.

    SQLite would open such a file and only refuse the first change.
    """
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise JournalFailed(
            f"the journal {str(path)!r} cannot be written: check the disk and the permissions of "
            "the data folder"
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """Return a value that differs for another file at the same path; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


MOUNTS = Path("/proc/self/mountinfo")
"""The list of mounted file systems (proc_pid_mountinfo(5)); only on Linux."""

_SYNCED: Final = frozenset({"Dropbox", "Google Drive", "OneDrive", "iCloud Drive", "Nextcloud"})
_OF_THE_NETWORK: Final = frozenset(
    {"afs", "ceph", "cifs", "davfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs"}
    | {"fuse.sshfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs"}
)
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")


class JournalRisk(NamedTuple):
    """A risk to the journal that comes from the location of its data folder."""

    what: str
    """The problem, as the end of a sentence whose subject is the folder."""
    why: str
    """The possible consequences, and what to do."""


def dangers(folder: Path) -> Iterator[JournalRisk]:
    """Yield the risks to a journal in this folder, which must exist."""
    place = folder.resolve()
    for synced in sorted(_SYNCED & set(place.parts)):
        yield JournalRisk(
            f"is inside {synced}",
            "Programs that copy the journal while it is in use can damage it. Move the folder.",
        )
    kind = _file_system(place)
    if kind in _OF_THE_NETWORK:
        yield JournalRisk(
            f"is on a network disk ({kind})",
            "SQLite can lose writes there or damage the journal. Move the folder to a disk of "
            "this machine.",
        )


def _file_system(place: Path) -> str:
    """Return the type of the file system that the folder is on; "" if unknown."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    kind, depth = "", 0
    for line in lines:
        about, _, details = line.partition(" - ")
        mounted = Path(_ESCAPED.sub(_character, about.split(" ")[4]))
        # If two are mounted at the same path, the later one hides the earlier one.
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
    """A data folder that this process holds until it calls `release`."""

    def __init__(self, path: Path, locks: Sequence[FileLock]) -> None:
        self.path = path
        self.database = path / DATABASE
        self._locks = locks
        self._ours = True

    @classmethod
    def claim(cls, path: Path) -> "DataFolder":
        """Create the folder if necessary, restrict its permissions and take its lock.

        Raises FolderRefused if the folder can't or must not be used, JournalInUse if another server
        holds it.
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
            # The sessions on a full disk should still be readable.
        return cls(path, locks)

    def announce(self, url: str, key: str) -> list[str]:
        """Publish this server's address and access key, if any, to the same user's programs.

        Returns messages for the user about what failed; call it again to retry that.
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
        """Release the folder; further calls do nothing, even if another server holds it by then."""
        if self._ours:
            self._ours = False
            with suppress(OSError):  # the disk may be read-only
                remove_address(self.path)
            forget_key(self.path)
            for lock in self._locks:
                lock.release()


def _lock(path: Path) -> list[FileLock]:
    """Take the locks that keep other servers out of the folder. Raises JournalInUse, OSError."""
    locks = [FolderLock(path), FileLock(path / _LOCK, PRIVATE_FILE)]
    for lock in locks:
        try:
            is_ours = lock.take()
        except FileNotFoundError:  # no lock file can be made on a read-only disk; none is needed
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
    """Write the server's address unless it is already there; on failure, leave none there.

    Raises OSError.
    """
    if read_address(path) == address:
        return
    try:
        write_address(path, address)
    except OSError:
        remove_address(path)  # the previous server's, which has ended
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
    # Only in an empty folder, so that it doesn't hide someone's own files from git.
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
    """Remove other users' access to files that an older version or a copy left accessible."""
    for file in path.glob("journal.*"):
        if not file.is_symlink() and stat.S_ISREG(file.stat().st_mode):
            _restrict(file, PRIVATE_FILE)


def _restrict(path: Path, mode: int) -> None:
    """Set the mode, except on a read-only disk, where `devui doctor` reports it."""
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
    """Copy the journal of a data folder into a new folder, and return the path of the copy.

    The copy counts as another journal: a server on it has another journal id. Raises FolderRefused
    if the target isn't empty or can't be made, JournalErrors if the source isn't a journal or can't
    be read.
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
