"""Who wrote a key, and what each write changed in its value (dev-uis 4.1, feature 6)."""

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
"""Writes of a key that are read at the most: the newest."""

Writer = Literal["event", "initial", "elsewhere"]
"""An event of this session; what the session began with; another session, or one
that is not known any more."""


@dataclass(frozen=True, slots=True)
class KeyWrite:
    """One write of a key, with what it found there."""

    writer: Writer
    event: EventRow | None
    """Of another session, if it is from elsewhere."""
    session: int | None
    """The key of the writer's session; None: it is not known, or not any more."""
    summary: Summary | None
    old: MaybeJson
    """Unknown, and said to be absent, for the oldest of those that were read."""
    new: Json
    changes: tuple[Difference, ...]
    overlaps: tuple[StateNote, ...] = ()
    """Who wrote the same key at the same time: the last writer wins."""

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools whose results the event holds; several ran side by side."""
        return tuple(each.name for each in self.summary.responses) if self.summary else ()


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """The writes of one key, oldest first."""

    scope: Scope
    key: str
    """Without its prefix."""
    writes: tuple[KeyWrite, ...]
    earlier: bool
    """There are older writes than those that were read."""
    blame: tuple[tuple[Path, KeyWrite], ...]
    """The pieces of the value, each with the write it is from."""
    source: KeyWrite | None = None
    """The write that what is at the path that was asked for is from."""
    oldest: int | None = None
    """The seq of the oldest write that was read, whether or not it changed what is at the path."""


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
    """The last writes of a key up to a seq of the journal; with a path, those that changed it.

    Blame is told of the value as of the seq `as_of`, or of the last one.
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
    """The number of this session's last event before a seq, or first after it, that wrote the key,
    or changed what is at the path; None if there is none."""
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
    if earlier:  # the oldest was read for what it left
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
    """Whether it changed what is at the path: there, inside of it, or with all around it."""
    return any(
        change.path[: len(path)] == path or path[: len(change.path)] == change.path
        for change in write.changes
    )
