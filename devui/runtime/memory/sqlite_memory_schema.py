"""The tables of memories, as google-adk has them (adk-runtime 10.2)."""

import sqlite3
from typing import Literal

from devui.runtime.databases import tables

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
    """Check the tables of a file, or make them; returns whether there is a full-text index.

    Raises:
        RuntimeError: the file is of another version, or an index is demanded and this SQLite has
            no FTS5.
    """
    known = tables(connection)
    if "memory_events" not in known:
        connection.executescript(_SCHEMA)
    version = connection.execute(
        "SELECT value FROM adk_memory_metadata WHERE key = 'schema_version'"
    ).fetchone()
    if version is not None and version[0] != "1":
        raise RuntimeError(
            f"{name} has version {version[0]} of the schema of memories; only version 1 is known"
            " here. Was it written by a newer google-adk?"
        )
    if fts == "off" or "memory_events_fts" in known:
        return fts != "off"
    return _make_index(connection, fts)


def _make_index(connection: sqlite3.Connection, fts: Fts) -> bool:
    try:
        connection.executescript(_INDEX)
    except sqlite3.OperationalError as error:
        connection.rollback()
        if "memory_events_fts" in tables(connection):
            return True  # another process was quicker
        if "no such module" not in str(error):
            raise
        if fts == "on":
            raise RuntimeError(
                'This SQLite was built without FTS5. Use fts="auto" to search without it.'
            ) from error
        return False
    return True
