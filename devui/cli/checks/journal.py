"""The journal: whether it is whole, and agrees with itself."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from devui.address import read_address
from devui.cli.checks.findings import Finding, fault, good, note
from devui.store.checkup import Checkup, check_journal
from devui.store.errors import StoreError
from devui.store.folder import DATABASE


def look_at_journal(folder: Path) -> Iterator[Finding]:
    """What there is to say of the journal in a data folder that exists."""
    path = folder / DATABASE
    if not (path.exists() or path.is_symlink()) or (path.is_file() and path.stat().st_size == 0):
        yield note("there is no journal yet", "the first server makes one")
        return
    try:
        found = check_journal(path, _delta_of)
    except StoreError as error:
        yield fault(str(error), "")
        return
    yield from (
        fault(sentence, "copy the data folder before anything else, then report this")
        for sentence in found.faults
    )
    if not found.faults:
        yield from _sound(found)
    yield from _cut_off(folder, found)


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
    yield good(f"{found.sessions} sessions with {found.events:,} events, version {found.version}")
    yield good("the file is whole, and nothing in it refers to what is not there")
    yield good("events are numbered without gaps, and every head agrees with them")
    yield good("state is what the deltas of the events make")


def _cut_off(folder: Path, found: Checkup) -> Iterator[Finding]:
    address = read_address(folder)
    if found.active and (address is None or address.gone):
        yield note(
            f"{len(found.active)} runs were cut off: {', '.join(found.active[:5])}",
            "the next server marks them as interrupted; `devui resume` goes on with them",
        )
