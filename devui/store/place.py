"""Places where a journal is in danger: folders that others copy, disks of the network (R46).

SQLite's log needs memory that all who use the file share, and locks that hold. On a disk of the
network there may be neither (https://sqlite.org/wal.html, https://sqlite.org/howtocorrupt.html).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

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
            "A program that copies the journal while it is written can damage it: move it away.",
        )
    kind = _file_system(place)
    if kind in _OF_THE_NETWORK:
        yield Danger(
            f"is on a disk of the network ({kind})",
            "SQLite can lose what is written there, or damage the journal: move it to a disk of "
            "this machine.",
        )


def _file_system(place: Path) -> str:
    """The kind of the file system that a folder is on; "" if nobody tells."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found, depth = "", 0
    for line in lines:
        about, _, told = line.partition(" - ")
        mounted = Path(_ESCAPED.sub(_character, about.split(" ")[4]))
        # Of two at one place the later one hides the earlier one.
        if place.is_relative_to(mounted) and len(mounted.parts) >= depth:
            found, depth = told.split(" ")[0], len(mounted.parts)
    return found


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 8))
