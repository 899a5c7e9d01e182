"""The journal: whether it is whole, and agrees with itself."""

import fcntl
import json
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from devui.address import read_address
from devui.cli.checks.findings import Finding, counted, fault, good, note
from devui.store.checkup import Checkup, check_journal
from devui.store.errors import StoreError
from devui.store.folder import DATABASE

_LOCK: Final = "@hhqqi"
"""A `struct flock` of Linux: kind, whence, start, length, process."""
_WRITE_LOCK: Final = 120
"""Which byte of the log's shared memory whoever writes has locked."""


def look_at_journal(folder: Path) -> Iterator[Finding]:
    """What there is to say of the journal in a data folder that exists."""
    path = folder / DATABASE
    if not (path.exists() or path.is_symlink()) or (path.is_file() and path.stat().st_size == 0):
        yield note("there is no journal yet", "the first server makes one")
        return
    writer = _writer(path)
    try:
        found = check_journal(path, _delta_of)
    except StoreError as error:
        yield fault(str(error), "")
        return
    yield from (fault(sentence, _advice(path, found)) for sentence in found.faults)
    if not found.faults:
        yield from _sound(found)
    yield from _locked(folder, writer)
    yield from _cut_off(folder, found)


def _advice(path: Path, found: Checkup) -> str:
    first = "copy the data folder before anything else, then"
    if not found.damaged:
        return f"{first} report this"
    return (
        f"{first} get out what can be got with `sqlite3 {path} .recover`; "
        "the next server sets this file aside as it is and begins a new one"
    )


def _writer(path: Path) -> int | None:
    """Which other process is in the middle of a change of the journal: nobody else can write then.

    Asks for the lock of SQLite's write-ahead log (https://sqlite.org/walformat.html, 2.3.3) without
    taking it, and therefore before the file is opened here. Only Linux tells.
    """
    shared = path.with_name(f"{path.name}-shm")
    if sys.platform != "linux" or not shared.is_file():
        return None
    asked = struct.pack(_LOCK, fcntl.F_RDLCK, os.SEEK_SET, _WRITE_LOCK, 1, 0)
    with shared.open("rb") as file:
        told = fcntl.fcntl(file, fcntl.F_GETLK, asked)
    kind, *_, process = struct.unpack(_LOCK, told)
    return None if kind == fcntl.F_UNLCK else int(process)


def _locked(folder: Path, writer: int | None) -> Iterator[Finding]:
    address = read_address(folder)
    if writer is not None and (address is None or address.pid != writer):
        yield note(
            f"process {writer} has locked the journal to write to it, and is no server of devui",
            "runs and requests wait until it is done: end it, or what it does",
        )


def _delta_of(data: str) -> Mapping[str, Any]:
    event = json.loads(data)
    delta: Mapping[str, Any] = (event.get("actions") or {}).get("stateDelta") or {}
    return delta


def _sound(found: Checkup) -> Iterator[Finding]:
    if found.outdated:
        yield note(
            f"the journal is whole, and of version {found.version}, which is older than this devui",
            "the next server keeps a copy and brings it up to date; look again then",
        )
        return
    sessions, events = counted(found.sessions, "session"), counted(found.events, "event")
    yield good(f"{sessions} with {events}, version {found.version}")
    yield good("the file is whole, and nothing in it refers to what is not there")
    yield good("events are numbered without gaps, and every head agrees with them")
    yield good("state is what the deltas of the events make")


def _cut_off(folder: Path, found: Checkup) -> Iterator[Finding]:
    address = read_address(folder)
    if found.active and (address is None or address.gone):
        yield note(
            f"cut off in the middle: {counted(len(found.active), 'run')}, "
            f"{', '.join(found.active[:5])}",
            "the next server marks that as interrupted; `devui resume` goes on with it",
        )
