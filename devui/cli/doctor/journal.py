"""Checks the journal and the data folder: owner, server, integrity."""

import fcntl
import json
import os
import shutil
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from devui.address import FILE, PRIVATE_FILE, PRIVATE_FOLDER, read_address
from devui.cli.doctor.finding import Finding, fault, good, note
from devui.keys import key_file
from devui.store.errors import StoreError
from devui.store.sqlite.checkup import Checkup, check_journal
from devui.store.sqlite.folder import DATABASE, dangers
from devui.store.sqlite.schema import lost_its_file
from devui.web.text.formats import plural

_LITTLE: Final = 200 * 1024 * 1024
"""The free disk space below which a note is reported, in bytes."""
_NOTHING: Final = 1024 * 1024
"""The free disk space below which a message and its answer may not fit, in bytes."""
_OURS: Final = ("journal.*", FILE)


def check_data_folder(path: Path) -> Iterator[Finding]:
    """Check a data folder, which must exist."""
    yield from _owner(path)
    yield from _modes(path)
    yield _server(path)
    yield _free_space(path)
    for danger in dangers(path):
        yield note(f"the data folder {danger.what}", danger.why)
    for aside in sorted(path.glob("journal.db.damaged-*Z")):
        yield note(
            f"{aside.name} was set aside as damaged",
            f"recover what is readable with `sqlite3 {aside} .recover`, or delete the file",
        )


def _free_space(path: Path) -> Finding:
    if not os.access(path, os.W_OK):
        return fault(
            "the data folder is not writable",
            "make the disk writable, or choose another folder with --data-dir",
        )
    free = shutil.disk_usage(path).free
    if free < _NOTHING:
        return fault(
            "its disk is full; nothing can be stored", "free some space; waiting runs then continue"
        )
    text = f"{free // 1024**2:,} MiB free on its disk"
    return (
        good(text) if free > _LITTLE else note(text, "free some space before the journal needs it")
    )


def _owner(path: Path) -> Iterator[Finding]:
    if path.is_symlink():
        yield fault("the data folder is a symbolic link", "use the folder it points to")
    elif sys.platform != "win32" and path.stat().st_uid != os.geteuid():
        yield fault(
            f"the data folder belongs to user {path.stat().st_uid}, not to you",
            "devui won't use it; choose another folder with --data-dir",
        )


def _modes(path: Path) -> Iterator[Finding]:
    modes = {path: PRIVATE_FOLDER}
    plain = (file for mask in _OURS for file in path.glob(mask) if not file.is_symlink())
    modes |= {file: PRIVATE_FILE for file in plain if file.is_file()}
    address = read_address(path)
    if address and (key := key_file(path, address.pid)):
        modes |= {key.parent: PRIVATE_FOLDER, key: PRIVATE_FILE}
    actual = {file: stat.S_IMODE(file.stat().st_mode) for file in modes}
    wide = [file for file in modes if actual[file] & ~modes[file]]
    for file in wide:
        yield fault(
            f"other users can access {file} (mode {actual[file]:o})",
            f"chmod {modes[file]:o} {file}",
        )
    if not wide:
        yield good("other users can't read the data folder")


def _server(path: Path) -> Finding:
    address = read_address(path)
    if address is None:
        return good("no server is using it")
    if address.is_gone:
        return note(
            f"process {address.pid}, which was using it, was killed",
            "nothing to do: the next server takes it over",
        )
    return good(f"process {address.pid} is using it, at {address.url or 'an unknown address'}")


_LOCK: Final = "@hhqqi"
"""Linux's `struct flock`: kind, whence, start, length, process."""
_WRITE_LOCK: Final = 120
"""The byte of the log's shared memory that a writer locks."""


def check_database(folder: Path) -> Iterator[Finding]:
    """Check the journal in a data folder, which must exist."""
    path = folder / DATABASE
    if lost_its_file(path):
        yield fault(
            f"{path} is missing or empty, but its write-ahead log is not",
            "copy the data folder first; the next server restores the journal from the log if the "
            "log is complete, and keeps the log in any case",
        )
        return
    if not (path.exists() or path.is_symlink()) or (path.is_file() and path.stat().st_size == 0):
        yield note("there is no journal yet", "the first server creates one")
        return
    writer = _writer(path)
    try:
        checkup = check_journal(path, _delta_of)
    except StoreError as error:
        yield fault(str(error), "")
        return
    yield from (fault(sentence, _advice(path, checkup)) for sentence in checkup.faults)
    if not checkup.faults:
        yield from _sound(checkup)
    yield from _locked(folder, writer)
    yield from _cut_off(folder, checkup)


def _advice(path: Path, checkup: Checkup) -> str:
    first = "copy the data folder first, then"
    if not checkup.damaged:
        return f"{first} report this"
    return (
        f"{first} recover what is readable with `sqlite3 {path} .recover`; "
        "the next server sets this file aside unchanged and starts a new one"
    )


def _writer(path: Path) -> int | None:
    """Return the process that is writing to the journal, which blocks all other writers.

    Queries the write lock of SQLite's write-ahead log (https://sqlite.org/walformat.html, 2.3.3)
    without taking it, and therefore before this process opens the file. Works only on Linux.
    """
    memory = path.with_name(f"{path.name}-shm")
    if sys.platform != "linux" or not memory.is_file():
        return None
    request = struct.pack(_LOCK, fcntl.F_RDLCK, os.SEEK_SET, _WRITE_LOCK, 1, 0)
    with memory.open("rb") as file:
        text = fcntl.fcntl(file, fcntl.F_GETLK, request)
    kind, *_, process = struct.unpack(_LOCK, text)
    return None if kind == fcntl.F_UNLCK else int(process)


def _locked(folder: Path, writer: int | None) -> Iterator[Finding]:
    address = read_address(folder)
    if writer is not None and (address is None or address.pid != writer):
        yield note(
            f"process {writer} has locked the journal for writing and is not a devui server",
            "runs and requests wait until it is done; stop it, or finish its transaction",
        )


def _delta_of(data: str) -> Mapping[str, Any]:
    event = json.loads(data)
    delta: Mapping[str, Any] = (event.get("actions") or {}).get("stateDelta") or {}
    return delta


def _sound(checkup: Checkup) -> Iterator[Finding]:
    if checkup.outdated:
        yield note(
            f"the journal is intact; its version {checkup.version} is older than this devui",
            "the next server keeps a copy and migrates it; check again then",
        )
        return
    sessions, events = plural(checkup.sessions, "session"), plural(checkup.events, "event")
    yield good(f"{sessions} with {events}, version {checkup.version}")
    yield good("the file is intact, and all references in it are valid")
    yield good("event numbers have no gaps, and every session head matches")
    yield good("state matches the deltas of the events")


def _cut_off(folder: Path, checkup: Checkup) -> Iterator[Finding]:
    address = read_address(folder)
    if checkup.active and (address is None or address.is_gone):
        yield note(
            f"interrupted: {plural(len(checkup.active), 'run')}, {', '.join(checkup.active[:5])}",
            "the next server marks them as interrupted; continue with `devui resume`",
        )
