"""The history of a state key: who wrote it, and what each write changed in its value
(dev-uis 4.1, feature 6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from devui.debugger.history.blame import (
    ABSENT,
    Difference,
    MaybeJson,
    blamed,
    blamed_at,
    differences,
    lines,
)
from devui.debugger.history.paths import Path
from devui.store.rows import EventRow, Json, Scope, Write
from devui.store.state import prefixed
from devui.store.state_history import Histories
from devui.store.summaries import StateNote, Summary
from devui.store.values import parse_json

MOST: Final = 200
"""The maximum number of writes of a key to read; the newest ones are read."""

Writer = Literal["event", "initial", "elsewhere"]
"""An event of this session; the session's initial state; or another session, which may no longer
exist."""


@dataclass(frozen=True, slots=True)
class KeyWrite:
    """A write of a key, with the value that it replaced."""

    writer: Writer
    event: EventRow | None
    """The event that wrote it, in another session if the writer is `elsewhere`; None if unknown."""
    session: int | None
    """The key of the writer's session; None if it is unknown or was deleted."""
    summary: Summary | None
    old: MaybeJson
    """The value before the write; absent for the first known write of the key."""
    new: Json
    changes: tuple[Difference, ...]
    overlaps: tuple[StateNote, ...] = ()
    """Concurrent writes of the same key; the last writer wins."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose results the event contains; several if they ran in parallel."""
        return tuple(each.name for each in self.summary.responses) if self.summary else ()


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The writes of one key, oldest first."""

    scope: Scope
    key: str
    """The key without its prefix."""
    writes: tuple[KeyWrite, ...]
    earlier: bool
    """Whether there are older writes than those that were read."""
    blame: tuple[tuple[Path, KeyWrite], ...]
    """The pieces of the value, each with the write that it comes from."""
    source: KeyWrite | None = None
    """The write that the value at the requested path comes from."""
    oldest: int | None = None
    """The seq of the oldest write that was read, even if it didn't change the value at the path."""


async def key_history(
    histories: Histories,
    session: int,
    scope: Scope,
    key: str,
    *,
    until: int | None = None,
    as_of: int | None = None,
    path: Path = (),
) -> KeyHistory:
    """Return the last writes of a key up to a seq, or those that changed the value at a path.

    Blame refers to the value as of the seq `as_of`, or to the last one.
    """
    rows = await histories.writes(session, scope, key, until=until, limit=MOST + 1)
    earlier = len(rows) > MOST
    name = prefixed(scope, key)
    count = sum(as_of is None or write.seq <= as_of for write in rows)
    return await asyncio.to_thread(
        _history, rows, (scope, key, name), session, path=path, earlier=earlier, count=count
    )


async def nearest_write(
    histories: Histories,
    session: int,
    key: tuple[Scope, str],
    seq: int,
    *,
    back: bool,
    path: Path = (),
) -> int | None:
    """Return the number of this session's last event before a seq, or first after it, that wrote
    the key, or changed the value at the path; None if there is none."""
    if not path:
        ask = histories.previous if back else histories.next
        return await ask(session, *key, seq)
    until, nearest = (seq - 1 if back else None), None
    while True:
        history = await key_history(histories, session, *key, until=until, path=path)
        own = [write.event for write in history.writes if write.event and write.writer == "event"]
        there = [event.number for event in own if back or event.seq > seq]
        nearest = nearest if not there else there[-1] if back else there[0]
        is_certain = nearest is not None if back else (history.oldest or 0) <= seq
        if is_certain or not history.earlier or history.oldest is None:
            return nearest
        until = history.oldest - 1


def _history(
    rows: Sequence[Write],
    names: tuple[Scope, str, str],
    session: int,
    *,
    path: Path,
    earlier: bool,
    count: int,
) -> KeyHistory:
    values = [parse_json(write.value) for write in rows]
    before: list[MaybeJson] = [ABSENT, *values]
    oldest = rows[int(earlier)].seq if rows else None
    writes = [
        _write(write, old, new, names[2], session)
        for write, old, new in zip(rows, before, values, strict=False)
    ]
    if earlier:  # the oldest was only read for the value that it left
        writes, values, count = writes[1:], values[1:], max(count - 1, 0)
    blame = blamed(values[:count]) if count else None
    source = blamed_at(blame, path) if blame else None
    return KeyHistory(
        scope=names[0],
        key=names[1],
        writes=tuple(write for write in writes if not path or _touches(write, path)),
        earlier=earlier,
        blame=tuple((at, writes[by]) for at, by in lines(blame) if at[: len(path)] == path)
        if blame
        else (),
        source=None if source is None else writes[source],
        oldest=oldest,
    )


def _write(write: Write, old: MaybeJson, new: Json, name: str, session: int) -> KeyWrite:
    row = write.event
    summary = row.summary if row else None
    own = row is not None and row.session == session
    notes = summary.notes if summary else ()
    return KeyWrite(
        writer="event" if own else "initial" if write.began == session else "elsewhere",
        event=row,
        session=row.session if row else write.began,
        summary=summary,
        old=old,
        new=new,
        changes=tuple(differences(old, new)),
        overlaps=tuple(note for note in notes if note.kind == "overlap" and note.key == name),
    )


def _touches(write: KeyWrite, path: Path) -> bool:
    """Whether the write changed the value at the path, a part of it, or a value around it."""
    return any(
        change.path[: len(path)] == path or path[: len(change.path)] == change.path
        for change in write.changes
    )
