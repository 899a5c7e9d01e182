"""Everything about one session, read in an order in which it can be imported again.

All reads use one snapshot of the journal, so others can write meanwhile. They are done in batches,
so that a session may be larger than memory. A record is a dict with the key `type`; its texts are
as in the journal, its JSON texts parsed. Ids of runs, numbers of edits and names of pieces are
those of the journal. docs/guide/bundles.md describes the records.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from devui.store.errors import JournalDamaged, SessionNotFound
from devui.store.runs.spans import Record, optional, spans
from devui.store.sqlite.database import Snapshot
from devui.store.state import prefixed
from devui.store.values import event_body, parse_json, responses_in, unreadable

_BATCH = 200
_LINES = 200
"""The maximum number of output lines in one record."""
_LARGE = 65_536
"""The maximum number of characters of JSON to parse on the event loop."""
_END = 2**63 - 1

_SESSION = """
    SELECT app, user, id, title, created, updated, events, born, own_scope, user_scope, app_scope
    FROM sessions WHERE key = ?
"""
_IMPORT = "SELECT data FROM imports WHERE session = ?"
_FORK = """
    SELECT forks.parent, sessions.id, sessions.title, forks.number, forks.reason, forks.note,
           forks.invocation, forks.created
    FROM forks LEFT JOIN sessions ON sessions.key = forks.parent WHERE forks.session = ?
"""
_CHILDREN = """
    SELECT forks.session, sessions.id, sessions.title, forks.number, forks.reason, forks.note,
           forks.invocation, forks.created
    FROM forks JOIN sessions ON sessions.key = forks.session
    WHERE forks.parent = ? ORDER BY forks.session
"""
_EDITS = """
    SELECT id, run, gate, agent, tool, call, event, action, actor, at, turn, before, after
    FROM edits WHERE session = ? AND id > ? ORDER BY id LIMIT ?
"""
_CHUNKS = """
    SELECT position, event, run, data FROM chunks
    WHERE session = ? AND position > ? ORDER BY position LIMIT ?
"""
_INITIAL = """
    SELECT scopes.kind, writes.key, writes.value FROM writes
    JOIN scopes ON scopes.id = writes.scope
    WHERE writes.seq = ? AND writes.scope IN (?, ?, ?) ORDER BY scopes.kind, writes.key
"""
# The shared state that the session saw when it began: the last write of each key before that.
_SHARED = """
    SELECT max(writes.seq), scopes.kind, writes.key, writes.value FROM writes
    JOIN scopes ON scopes.id = writes.scope
    WHERE writes.scope IN (?2, ?3) AND writes.seq < ?1 GROUP BY writes.scope, writes.key
    ORDER BY 1, 2, 3
"""
_EVENTS = "SELECT * FROM event_bodies WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
_WRITES = """
    SELECT writes.seq, scopes.kind, writes.key, writes.value FROM writes
    JOIN scopes ON scopes.id = writes.scope
    WHERE writes.scope IN (?4, ?5, ?6) AND writes.seq > ?2 AND writes.seq <= ?3
      AND NOT EXISTS (SELECT 1 FROM events WHERE events.session = ?1 AND events.seq = writes.seq)
    ORDER BY 1, 2, 3
"""
_FILES = """
    SELECT seq, id, name, version, mime, custom_metadata, created FROM artifacts
    WHERE scope IN (?, ?) AND seq > ? AND seq <= ? ORDER BY seq, name, version
"""
_CONTENT = """
    SELECT contents.text, contents.data FROM artifacts
    JOIN contents ON contents.id = artifacts.content WHERE artifacts.id = ?
"""
_RUNS = """
    SELECT runs.seq, runs.id, invocation_id, status, error, started, ended, message, unfinished,
           closed, positions.data, runs.held
    FROM runs LEFT JOIN positions ON positions.run = runs.id
    WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq
"""
_DROPPED = "SELECT seq, id FROM edits WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq"
_OUTPUT = """
    SELECT number, stream, text, at FROM output WHERE run = ? AND number > ? ORDER BY number LIMIT ?
"""
_TOUCHES = "SELECT number, event, flagged, data FROM uncommitted WHERE run = ? ORDER BY number"
_EVER = """
    SELECT scopes.kind, writes.key, writes.value FROM sessions
    JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
    JOIN writes ON writes.scope = scopes.id WHERE sessions.key = ?
"""
_EVER_KEYS = """
    SELECT DISTINCT scopes.kind, writes.key FROM sessions
    JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
    JOIN writes ON writes.scope = scopes.id WHERE sessions.key = ?
"""
_SIZE = """
    SELECT 3 + (SELECT count(*) FROM events WHERE session = ?1)
         + (SELECT count(*) FROM spans WHERE session = ?1)
         + (SELECT count(*) FROM pieces WHERE session = ?1)
         + (SELECT count(*) FROM chunks WHERE session = ?1)
         + (SELECT count(*) FROM edits WHERE session = ?1)
         + (SELECT count(*) FROM uncommitted WHERE session = ?1)
         + (SELECT count(*) FROM runs WHERE session = ?1)
"""
_ANSWERS = "SELECT data FROM events WHERE session = ? AND author = 'user' AND instr(data, ?) > 0"
_TAGS = "SELECT name FROM tags WHERE session = ? ORDER BY folded"
_NOTES = "SELECT number, text, starred, actor, at FROM notes WHERE session = ? ORDER BY number"


class _Session(NamedTuple):
    key: int
    events: int
    born: int
    own: int
    user: int
    app: int


class _Entry(NamedTuple):
    """A record of the timeline, before it is made."""

    seq: int
    make: Callable[[], Record]
    """Makes the record; called only when its turn comes, since a batch has many."""
    run: str | None = None
    """The id of the run, if it is the record of one."""
    size: int = 0
    """The number of characters of JSON to parse for it; 0 if always small."""


async def head(snapshot: Snapshot, key: int) -> Record:
    """Return a bundle's record of the session itself. Raises SessionNotFound."""
    rows = await snapshot.fetch(_SESSION, key)
    if not rows:
        raise SessionNotFound(f"no session has the key {key!r}; it may have been deleted")
    app, user, name, title, created, updated, *_ = rows[0]
    children = [_lineage(row) for row in await snapshot.fetch(_CHILDREN, key)]
    record: Record = {
        "app": app,
        "user": user,
        "id": name,
        "title": title,
        "created": created,
        "updated": updated,
        "forked": [],
        "forks": children,
        "redacted": 0,
        "extra": {},
    }
    if tags := await snapshot.fetch(_TAGS, key):
        record["tags"] = [name for (name,) in tags]
    if origins := await snapshot.fetch(_IMPORT, key):
        origin = _origin(origins[0][0])
        return record | origin | {"forks": [*origin["forks"], *children]}
    record["forked"] = await _ancestors(snapshot, key)
    return record


async def app_of(snapshot: Snapshot, key: int) -> str:
    """Return the session's app. Raises SessionNotFound."""
    rows = await snapshot.fetch(_SESSION, key)
    if not rows:
        raise SessionNotFound(f"no session has the key {key!r}; it may have been deleted")
    app: str = rows[0][0]
    return app


async def records(snapshot: Snapshot, key: int) -> AsyncIterator[Record]:
    """Yield all other records, in order. Raises SessionNotFound, JournalDamaged."""
    rows = await snapshot.fetch(_SESSION, key)
    if not rows:
        raise SessionNotFound(f"no session has the key {key!r}; it may have been deleted")
    session = _Session(key, *rows[0][6:])
    for part in (_edits, _chunks, _timeline):
        async for record in part(snapshot, session):
            yield record
    async for record in spans(snapshot, key):
        yield record
    async for record in _notes(snapshot, session):
        yield record


async def size_of(snapshot: Snapshot, key: int) -> int:
    """Estimate the number of lines in the session's bundle: the records, two before, one after."""
    return int((await snapshot.fetch(_SIZE, key))[0][0])


async def values_of(snapshot: Snapshot, key: int, names: Collection[str]) -> list[Any]:
    """Return every value that these state keys ever had in the session's scopes.

    `names` include the prefixes.
    """
    rows = await snapshot.fetch(_EVER, key)
    return [parse_json(value) for kind, name, value in rows if prefixed(kind, name) in names]


async def keys_of(snapshot: Snapshot, key: int) -> list[str]:
    """Return every state key ever written to the session's scopes, with its prefix, sorted."""
    rows = await snapshot.fetch(_EVER_KEYS, key)
    return sorted(prefixed(kind, name) for kind, name in rows)


async def answers_to(snapshot: Snapshot, key: int, call: str) -> list[Any]:
    """Return people's answers to calls with this name."""
    rows = await snapshot.fetch(_ANSWERS, key, json.dumps(call))
    return [answer for (data,) in rows for answer in responses_in(data, call)]


async def _ancestors(snapshot: Snapshot, key: int) -> list[Record]:
    """Return records of where the session was forked, where its parent was forked, and so on."""
    line: list[Record] = []
    rows = await snapshot.fetch(_FORK, key)
    while rows:
        line.append(_lineage(rows[0]))
        parent = rows[0][0]
        if origins := await snapshot.fetch(_IMPORT, parent):
            return [*line, *_origin(origins[0][0])["forked"]]
        rows = await snapshot.fetch(_FORK, parent)
    return line


def _origin(text: str) -> Record:
    """Return the record of the session from the bundle that it was imported from."""
    origin: Record = json.loads(text)
    return origin


def _lineage(row: Sequence[Any]) -> Record:
    _, name, title, number, reason, note, invocation, created = row
    return {
        "id": name,
        "title": title,
        "number": number,
        "reason": reason,
        "note": note,
        "invocation": invocation,
        "created": created,
    }


async def _edits(snapshot: Snapshot, session: _Session) -> AsyncIterator[Record]:
    after = 0
    names = ("run", "gate", "agent", "tool", "call", "event", "action", "actor", "at", "turn")
    while rows := await snapshot.fetch(_EDITS, session.key, after, _BATCH):
        for number, *columns, before, changed in rows:
            yield {
                "type": "edit",
                "edit": number,
                **dict(zip(names, columns, strict=True)),
                "before": parse_json(before),
                "after": parse_json(changed),
            }
        after = rows[-1][0]


async def _chunks(snapshot: Snapshot, session: _Session) -> AsyncIterator[Record]:
    after = 0
    while rows := await snapshot.fetch(_CHUNKS, session.key, after, _BATCH):
        for _, event, run, data in rows:
            yield {"type": "chunk", "event": event, "run": run, "data": parse_json(data)}
        after = rows[-1][0]


async def _timeline(snapshot: Snapshot, session: _Session) -> AsyncIterator[Record]:
    """Yield everything with a place in time, in order of seq: events, files, writes and runs."""
    async for record in _before(snapshot, session):
        yield record
    initial = await snapshot.fetch(_INITIAL, session.born, session.own, session.user, session.app)
    state = await _apart(sum(len(value) for _, _, value in initial), partial(_state, initial))
    yield {"type": "start", "state": state}
    after = session.born
    while True:
        rows = await snapshot.fetch(_EVENTS, session.key, after, _BATCH)
        until = rows[-1][0] if len(rows) == _BATCH else _END
        others = await _between(snapshot, session, after, until)
        events = [_Entry(row[0], partial(_event, row), size=_size(row)) for row in rows]
        for entry in sorted([*events, *others], key=lambda each: each.seq):
            async for record in _whole(snapshot, entry):
                yield record
        if until == _END:
            return
        after = until


async def _before(snapshot: Snapshot, session: _Session) -> AsyncIterator[Record]:
    """Yield the shared state and the files from before the session began."""
    writes = await snapshot.fetch(_SHARED, session.born, session.user, session.app)
    files = await snapshot.fetch(_FILES, session.own, session.user, -1, session.born)
    entries = [*map(_write, writes), *map(_file, files)]
    for each in sorted(entries, key=lambda each: each.seq):
        async for record in _whole(snapshot, each):
            yield record


async def _between(snapshot: Snapshot, session: _Session, after: int, until: int) -> list[_Entry]:
    scopes = (session.own, session.user, session.app)
    writes = await snapshot.fetch(_WRITES, session.key, after, until, *scopes)
    files = await snapshot.fetch(_FILES, *scopes[:2], after, until)
    runs = await snapshot.fetch(_RUNS, session.key, after, until)
    dropped = await snapshot.fetch(_DROPPED, session.key, after, until)
    return [
        *map(_write, writes),
        *map(_file, files),
        *map(_run, runs),
        *(_Entry(seq, partial(dict, type="dropped", edit=edit)) for seq, edit in dropped),
    ]


async def _whole(snapshot: Snapshot, entry: _Entry) -> AsyncIterator[Record]:
    """Yield the entry's record, with a file's content, then the output and touches of a run."""
    record = await _apart(entry.size, entry.make)
    if record["type"] == "artifact":
        [(text, data)] = await snapshot.fetch(_CONTENT, record.pop("content"))
        content = {"text": text} if data is None else {"data": base64.b64encode(data).decode()}
        yield {**record, **content}
        return
    yield record
    if entry.run is None:
        return
    after = 0
    while rows := await snapshot.fetch(_OUTPUT, entry.run, after, _LINES):
        lines = [[stream, text, at] for _, stream, text, at in rows]
        yield {"type": "output", "run": entry.run, "lines": lines}
        after = rows[-1][0]
    for number, event, flagged, data in await snapshot.fetch(_TOUCHES, entry.run):
        yield {
            "type": "touch",
            "run": entry.run,
            "number": number,
            "event": event,
            "flagged": flagged,
            "data": parse_json(data),
        }


async def _apart(size: int, make: Callable[[], Record]) -> Record:
    """Make a record from `size` characters of JSON, in a thread if they are many."""
    return await asyncio.to_thread(make) if size > _LARGE else make()


def _size(row: Sequence[Any]) -> int:
    """Return the number of characters in the row's texts."""
    return sum(len(each) for each in row if isinstance(each, str))


def _state(rows: Iterable[Sequence[Any]]) -> Record:
    return {prefixed(kind, name): parse_json(value) for kind, name, value in rows}


def _event(row: Sequence[Any]) -> Record:
    """Return the record of an event; a damaged event is replaced by one that says so."""
    event_row, body = event_body(row)
    try:
        event = parse_json(body.text)
    except JournalDamaged:
        event = parse_json(unreadable(event_row).text)
    fields = {
        "number": event_row.number,
        "run": event_row.run,
        "final": event_row.final,
        "event": event,
    }
    return {"type": "event", **fields, **_paused(event_row.paused)}


def _write(row: Sequence[Any]) -> _Entry:
    seq, kind, name, value = row

    def make() -> Record:
        return {"type": "write", "scope": kind, "key": name, "value": parse_json(value)}

    return _Entry(seq, make, size=len(value))


def _file(row: Sequence[Any]) -> _Entry:
    seq, number, name, version, mime, metadata, created = row
    fields = {
        "name": name,
        "version": version,
        "mime": mime,
        "metadata": optional(metadata),
        "created": created,
    }
    return _Entry(seq, partial(dict, type="artifact", content=number, **fields))


def _run(row: Sequence[Any]) -> _Entry:
    seq, name, invocation, status, error, started, ended, message, *rest = row
    unfinished, closed, position, paused = rest
    going = ended is None
    fields = {
        "run": name,
        "invocation": invocation,
        "status": "interrupted" if going else status,  # it won't continue where it is imported
        "error": optional(error),
        "started": started,
        "ended": started if going else ended,
        "message": optional(message),
        "unfinished": optional(unfinished),
        "closed": bool(closed),
        "held": optional(position),
    }
    fields |= _paused(0.0 if going else paused)
    return _Entry(seq, partial(dict, type="run", **fields), name)


def _paused(seconds: float) -> Record:
    """Return the member `paused` of a record, unless it is 0."""
    return {"paused": seconds} if seconds else {}


async def _notes(snapshot: Snapshot, session: _Session) -> AsyncIterator[Record]:
    for number, text, starred, actor, at in await snapshot.fetch(_NOTES, session.key):
        fields = {"number": number, "text": text, "starred": bool(starred)}
        yield {"type": "note", **fields, "actor": actor, "at": at}
