"""Who wrote a key, and what each write changed in its value (dev-uis 4.1, feature 6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from devui.debugger.blame import (
    ABSENT,
    Difference,
    Found,
    Path,
    blamed,
    blamed_at,
    differences,
    lines,
)
from devui.debugger.summary import StateNote, Summary
from devui.store.histories import Histories
from devui.store.rows import EventRow, Json, Scope, Write
from devui.store.state import prefixed
from devui.store.values import parsed

MOST: Final = 200
"""Writes of a key that are read at the most: the newest."""

Writer = Literal["event", "initial", "elsewhere"]
"""An event of this session; what the session began with; another session, or one deleted since."""


@dataclass(frozen=True, slots=True)
class KeyWrite:
    """One write of a key, with what it found there."""

    writer: Writer
    event: EventRow | None
    """Of another session, if it is from elsewhere."""
    summary: Summary | None
    old: Found
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
    """The pieces of the last value, each with the write it is from."""
    asked: KeyWrite | None = None
    """The write that what is at the path that was asked for is from."""


async def key_history(
    histories: Histories,
    session: int,
    scope: Scope,
    key: str,
    *,
    until: int | None = None,
    path: Path = (),
) -> KeyHistory:
    """The last writes of a key up to a seq of the journal; with a path, those that changed it."""
    found = await histories.writes(session, scope, key, until=until, limit=MOST + 1)
    earlier = len(found) > MOST
    name = prefixed(scope, key)
    return await asyncio.to_thread(_told, found, (scope, key, name), session, path, earlier)


def _told(
    found: Sequence[Write], names: tuple[Scope, str, str], session: int, path: Path, earlier: bool
) -> KeyHistory:
    values = [parsed(write.value) for write in found]
    before: list[Found] = [ABSENT, *values]
    writes = [
        _write(write, old, new, names[2], session)
        for write, old, new in zip(found, before, values, strict=False)
    ]
    if earlier:  # the oldest was read for what it left
        writes, values = writes[1:], values[1:]
    blame = blamed(values) if values else None
    asked = blamed_at(blame, path) if blame else None
    return KeyHistory(
        scope=names[0],
        key=names[1],
        writes=tuple(write for write in writes if not path or _touches(write, path)),
        earlier=earlier,
        blame=tuple((at, writes[by]) for at, by in lines(blame) if at[: len(path)] == path)
        if blame
        else (),
        asked=None if asked is None else writes[asked],
    )


def _write(write: Write, old: Found, new: Json, name: str, session: int) -> KeyWrite:
    row = write.event
    summary = Summary.from_json(row.summary) if row else None
    own = row is not None and row.session == session
    notes = summary.notes if summary else ()
    return KeyWrite(
        writer="event" if own else "initial" if write.initial else "elsewhere",
        event=row,
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
