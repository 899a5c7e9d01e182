"""`SqliteMemoryService`: memories in a SQLite file that google-adk can read (adk-runtime 10.2)."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from google.genai import types

from devui.runtime.databases import Database, DatabasePath, tables
from devui.runtime.events.event import Event
from devui.runtime.jsonable import sendable
from devui.runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from devui.runtime.memory.memory_entry import MemoryEntry
from devui.runtime.memory.search_text import has_marks, is_unspaced, search_text, words
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.storable import spelled_out

# The tables of memories, as in google-adk (adk-runtime 10.2).


Fts = Literal["auto", "on", "off"]

_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS adk_memory_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT OR IGNORE INTO adk_memory_metadata VALUES ('schema_version', '1');
CREATE TABLE IF NOT EXISTS memory_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, event_id TEXT NOT NULL,
    author TEXT NOT NULL, timestamp REAL NOT NULL,
    content_json TEXT NOT NULL, search_text TEXT NOT NULL,
    UNIQUE (app_name, user_id, session_id, event_id)
);
CREATE INDEX IF NOT EXISTS idx_memory_events_scope
    ON memory_events (app_name, user_id, timestamp DESC);
COMMIT;
"""
_INDEX = """
BEGIN IMMEDIATE;
CREATE VIRTUAL TABLE memory_events_fts USING fts5 (
    search_text, content = 'memory_events', content_rowid = 'id', tokenize = 'unicode61'
);
CREATE TRIGGER memory_events_ai AFTER INSERT ON memory_events BEGIN
    INSERT INTO memory_events_fts (rowid, search_text) VALUES (new.id, new.search_text);
END;
CREATE TRIGGER memory_events_ad AFTER DELETE ON memory_events BEGIN
    INSERT INTO memory_events_fts (memory_events_fts, rowid, search_text)
        VALUES ('delete', old.id, old.search_text);
END;
CREATE TRIGGER memory_events_au AFTER UPDATE OF search_text ON memory_events BEGIN
    INSERT INTO memory_events_fts (memory_events_fts, rowid, search_text)
        VALUES ('delete', old.id, old.search_text);
    INSERT INTO memory_events_fts (rowid, search_text) VALUES (new.id, new.search_text);
END;
INSERT INTO memory_events_fts (memory_events_fts) VALUES ('rebuild');
COMMIT;
"""


def open_schema(connection: sqlite3.Connection, fts: Fts, name: str) -> bool:
    """Check the tables of a file, or create them; return whether there is a full-text index.

    Raises:
        RuntimeError: The file has another version, or an index is required and this SQLite has
            no FTS5.
    """
    table_names = tables(connection)
    if "memory_events" not in table_names:
        connection.executescript(_SCHEMA)
    version = connection.execute(
        "SELECT value FROM adk_memory_metadata WHERE key = 'schema_version'"
    ).fetchone()
    if version is not None and version[0] != "1":
        raise RuntimeError(
            f"{name} has memory schema version {version[0]}, but only version 1 is supported."
            " Was it written by a newer google-adk?"
        )
    if fts == "off" or "memory_events_fts" in table_names:
        return fts != "off"
    return _make_index(connection, fts)


def _make_index(connection: sqlite3.Connection, fts: Fts) -> bool:
    try:
        connection.executescript(_INDEX)
    except sqlite3.OperationalError as error:
        connection.rollback()
        if "memory_events_fts" in tables(connection):
            return True  # another process was faster
        if "no such module" not in str(error):
            raise
        if fts == "on":
            raise RuntimeError(
                'This SQLite was built without FTS5. Use fts="auto" to search without it.'
            ) from error
        return False
    return True


_NO_SESSION = "__unknown_session_id__"
_INSERT = (
    "INSERT INTO memory_events (app_name, user_id, session_id, event_id, author, timestamp,"
    " content_json, search_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (app_name, user_id, session_id, event_id) DO UPDATE SET author = excluded.author,"
    " timestamp = excluded.timestamp, content_json = excluded.content_json,"
    " search_text = excluded.search_text"
)
_DELETE = "DELETE FROM memory_events WHERE app_name = ? AND user_id = ? AND CAST(id AS TEXT) = ?"
_BY_INDEX = (
    "SELECT m.* FROM memory_events_fts f JOIN memory_events m ON m.id = f.rowid"
    " WHERE m.app_name = ? AND m.user_id = ? AND f.search_text MATCH ?"
    " ORDER BY bm25(memory_events_fts), m.timestamp DESC LIMIT ?"
)
_NEWEST = (
    "SELECT * FROM memory_events WHERE app_name = ? AND user_id = ?"
    " ORDER BY timestamp DESC, id DESC LIMIT ?"
)
_BY_SCAN = (
    "SELECT *, (SELECT count(*) FROM json_each(?) WHERE instr(search_text, value)) AS score"
    " FROM memory_events WHERE app_name = ? AND user_id = ? AND score > 0"
    " ORDER BY score DESC, timestamp DESC LIMIT ?"
)


class SqliteMemoryService(BaseMemoryService):
    """Finds events by their words, best matches first, with SQLite's full-text index.

    Words in scripts without spaces are matched anywhere in a text, which scans everything stored
    for the user. A file is opened at its first use; `close` closes it.
    """

    def __init__(
        self,
        db_path: str | Path,
        *,
        fts: Fts = "auto",
        max_event_bytes: int = 262_144,
        max_results: int = 50,
    ) -> None:
        """Use a file: a path, a `sqlite:///` URL, or `:memory:`.

        Args:
            db_path: The location; its folder is created now, and the file at its first use.
            fts: Whether to use the full-text index: `off` scans every text, `on` fails if SQLite
                has no FTS5.
            max_event_bytes: How much of an event's text can be searched; all of it is stored.
            max_results: How many memories a search returns at most.

        Raises:
            ValueError: One of the numbers is not positive, `fts` is invalid, or the path is empty.
        """
        if max_event_bytes <= 0 or max_results <= 0:
            raise ValueError("max_event_bytes and max_results must be positive.")
        if fts not in get_args(Fts):
            raise ValueError(f"fts must be one of {', '.join(get_args(Fts))}, not {fts!r}.")
        self._fts_kind: Fts = fts
        self._has_fts_index = False
        self._max_event_bytes = max_event_bytes
        self._max_results = max_results
        path = DatabasePath.of(db_path)
        if not path.is_uri:
            Path(path.name).parent.mkdir(parents=True, exist_ok=True)
        self._memory_database = Database(path, partial(_prepare, self))

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the session's events that have text; known ones are updated."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember the events that have text; known ones are updated."""
        where = (app_name, user_id, session_id or _NO_SESSION)
        rows = [
            (
                *where,
                sendable(event.id),
                sendable(event.author),
                event.timestamp,
                _json(event),
                text,
            )
            for event in events
            if (text := search_text(event, self._max_event_bytes))
        ]
        if rows:
            await self._memory_database.write(lambda connection: _insert(connection, rows))

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return events with words of the query, with their session and event ids as metadata."""
        terms = words(query)
        if not terms:
            return SearchMemoryResponse()
        rows = await self._memory_database.read(
            lambda connection: _search(self, connection, (app_name, user_id), terms)
        )
        return SearchMemoryResponse(memories=[_entry(row) for row in rows])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget one memory; adding its session again restores it."""
        if memory_id:
            which = (app_name, user_id, memory_id)
            await self._memory_database.write(lambda connection: _delete(connection, which))

    async def close(self) -> None:
        """Close the file; the next use reopens it (`:memory:` starts empty)."""
        await self._memory_database.close()


async def newest(
    service: SqliteMemoryService, app_name: str, user_id: str, limit: int
) -> list[MemoryEntry]:
    """Return the newest memories of a user."""
    parameters = (app_name, user_id, limit)
    rows = await service._memory_database.read(
        lambda connection: connection.execute(_NEWEST, parameters).fetchall()
    )
    return [_entry(row) for row in rows]


def _scan(
    service: SqliteMemoryService,
    connection: sqlite3.Connection,
    user: tuple[str, str],
    words: list[str],
) -> list[Any]:
    parameters = (json.dumps(words), *user, service._max_results)
    return connection.execute(_BY_SCAN, parameters).fetchall()


def _search(
    service: SqliteMemoryService,
    connection: sqlite3.Connection,
    user: tuple[str, str],
    words: list[str],
) -> list[Any]:
    if not service._has_fts_index:
        return _scan(service, connection, user, words)
    query = " OR ".join(f'"{word}"' for word in words if not has_marks(word))
    by_index = connection.execute(_BY_INDEX, (*user, query, service._max_results)) if query else ()
    rows = [*by_index]
    unspaced = [word for word in words if is_unspaced(word)]
    if unspaced and len(rows) < service._max_results:
        ids = {row["id"] for row in rows}
        scanned = _scan(service, connection, user, unspaced)
        rows += [row for row in scanned if row["id"] not in ids]
    return rows[: service._max_results]


def _prepare(service: SqliteMemoryService, connection: sqlite3.Connection) -> None:
    service._has_fts_index = open_schema(
        connection, service._fts_kind, service._memory_database.path.name
    )


def _insert(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    connection.executemany(_INSERT, rows)


def _delete(connection: sqlite3.Connection, which: tuple[str, str, str]) -> None:
    connection.execute(_DELETE, which)


def _json(event: Event) -> str:
    assert event.content is not None  # noqa: S101  only events with text are remembered
    try:
        return event.content.model_dump_json(exclude_none=True)
    except ValueError:  # a lone surrogate
        return spelled_out(event.content).model_dump_json(exclude_none=True)


def _entry(row: Any) -> MemoryEntry:
    return MemoryEntry(
        id=str(row["id"]),
        content=types.Content.model_validate_json(row["content_json"]),
        author=row["author"] or None,
        timestamp=datetime.fromtimestamp(row["timestamp"]).isoformat(),
        custom_metadata={"session_id": row["session_id"], "event_id": row["event_id"]},
    )
