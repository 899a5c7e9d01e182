"""The data folder: whose it is, who may read it, which server has it, how much room is left."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from devui.address import FILE, PRIVATE_FILE, PRIVATE_FOLDER, read_address
from devui.cli.checks.findings import Finding, fault, good, note
from devui.keys import key_file
from devui.store.place import dangers

_LITTLE: Final = 200 * 1024 * 1024
"""Bytes that are left of the disk; less is told."""
_NOTHING: Final = 1024 * 1024
"""With less than this, a message and its answer do not fit any more."""
_OURS: Final = ("journal.*", FILE)


def look_at_folder(path: Path) -> Iterator[Finding]:
    """What there is to say of a data folder that exists."""
    yield from _owner(path)
    yield from _modes(path)
    yield _server(path)
    yield _room(path)
    for danger in dangers(path):
        yield note(f"the data folder {danger.what}", danger.why)
    for aside in sorted(path.glob("journal.db.damaged-*Z")):
        yield note(
            f"{aside.name} was set aside as damaged",
            f"`sqlite3 {aside} .recover` gets out what can be got; delete it when it is not needed",
        )


def _room(path: Path) -> Finding:
    if not os.access(path, os.W_OK):
        return fault(
            "nothing can be written in the data folder",
            "make its disk writable, or choose another folder with --data-dir",
        )
    free = shutil.disk_usage(path).free
    if free < _NOTHING:
        return fault(
            "its disk is full: nothing new can be kept", "make room; runs that wait then go on"
        )
    told = f"{free // 1024**2:,} MiB are free on its disk"
    return good(told) if free > _LITTLE else note(told, "make room before the journal needs it")


def _owner(path: Path) -> Iterator[Finding]:
    if path.is_symlink():
        yield fault("the data folder is a symbolic link", "name the folder that it points to")
    elif sys.platform != "win32" and path.stat().st_uid != os.geteuid():
        yield fault(
            f"the data folder belongs to user {path.stat().st_uid}, not to you",
            "devui refuses it; choose another one with --data-dir",
        )


def _modes(path: Path) -> Iterator[Finding]:
    wanted = {path: PRIVATE_FOLDER}
    plain = (file for mask in _OURS for file in path.glob(mask) if not file.is_symlink())
    wanted |= {file: PRIVATE_FILE for file in plain if file.is_file()}
    address = read_address(path)
    if address and (key := key_file(path, address.pid)):
        wanted |= {key.parent: PRIVATE_FOLDER, key: PRIVATE_FILE}
    found = {file: stat.S_IMODE(file.stat().st_mode) for file in wanted}
    wide = [file for file in wanted if found[file] & ~wanted[file]]
    for file in wide:
        yield fault(
            f"others may get at {file} (mode {found[file]:o})", f"chmod {wanted[file]:o} {file}"
        )
    if not wide:
        yield good("nobody else may read the data folder")


def _server(path: Path) -> Finding:
    address = read_address(path)
    if address is None:
        return good("no server has it")
    if address.gone:
        return note(
            f"process {address.pid}, which had it, was killed",
            "nothing to do: the next server takes it over",
        )
    return good(f"process {address.pid} has it, at {address.url or 'an address it has not told'}")
