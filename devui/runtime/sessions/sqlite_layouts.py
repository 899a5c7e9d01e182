"""The two layouts of session files that google-adk writes (adk-runtime 2.5, 2.6).

They have the same tables and the same JSON, and differ in how a time is written: the one of
`SqliteSessionService` as unix seconds, the one of `DatabaseSessionService` (version 1) as a text
in UTC.
"""

import sqlite3
from datetime import UTC, datetime
from enum import Enum

from devui.runtime.databases import tables

_SECONDS_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS app_states (
    app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS user_states (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id)
);
CREATE TABLE IF NOT EXISTS sessions (
    app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
    create_time REAL NOT NULL, update_time REAL NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE IF NOT EXISTS events (
    id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL,
    invocation_id TEXT NOT NULL, timestamp REAL NOT NULL, event_data TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, session_id, id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id)
        ON DELETE CASCADE
);
COMMIT;
"""
_DATES_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS adk_internal_metadata (
    "key" VARCHAR(128) NOT NULL PRIMARY KEY, value VARCHAR(256) NOT NULL
);
INSERT OR IGNORE INTO adk_internal_metadata VALUES ('schema_version', '1');
CREATE TABLE IF NOT EXISTS app_states (
    app_name VARCHAR(128) NOT NULL PRIMARY KEY, state TEXT NOT NULL, update_time DATETIME NOT NULL
);
CREATE TABLE IF NOT EXISTS user_states (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
    update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name, user_id)
);
CREATE TABLE IF NOT EXISTS sessions (
    app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
    state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name, user_id, id)
);
CREATE TABLE IF NOT EXISTS events (
    id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL,
    timestamp DATETIME NOT NULL, event_data TEXT,
    PRIMARY KEY (id, app_name, user_id, session_id),
    FOREIGN KEY (app_name, user_id, session_id) REFERENCES sessions (app_name, user_id, id)
        ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS idx_events_app_user_session_ts_id
    ON events (app_name, user_id, session_id, timestamp DESC, id DESC);
COMMIT;
"""


class Layout(Enum):
    """How a file writes times."""

    SECONDS = "SqliteSessionService"
    DATES = "DatabaseSessionService"

    def time(self, seconds: float) -> float | str:
        """A time as this layout stores it; texts sort like the times they tell."""
        if self is Layout.SECONDS:
            return seconds
        moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        return moment.isoformat(sep=" ", timespec="microseconds")


def seconds(stored: float | str) -> float:
    """A stored time in unix seconds, whatever the layout."""
    if isinstance(stored, str):
        return datetime.fromisoformat(stored).replace(tzinfo=UTC).timestamp()
    return stored


def open_layout(connection: sqlite3.Connection, layout_if_new: Layout, name: str) -> Layout:
    """The layout of a file; an empty one gets `layout_if_new`.

    Raises:
        RuntimeError: the file is of an older or newer version, or no file of sessions.
    """
    known = tables(connection)
    if "events" not in known and "sessions" not in known:
        is_seconds = layout_if_new is Layout.SECONDS
        connection.executescript(_SECONDS_SCHEMA if is_seconds else _DATES_SCHEMA)
        return layout_if_new
    columns = {row["name"]: row["type"] for row in connection.execute("PRAGMA table_info(events)")}
    if "event_data" not in columns:
        raise RuntimeError(
            f"{name} holds sessions as old versions of google-adk wrote them, in a form that cannot"
            " be read safely. Convert a copy with google-adk:"
            " adk migrate session --source_db_url=sqlite:///old.db --dest_db_url=sqlite:///new.db"
        )
    if "adk_internal_metadata" in known:
        _check_version(connection, name)
    return Layout.SECONDS if columns.get("timestamp") == "REAL" else Layout.DATES


def _check_version(connection: sqlite3.Connection, name: str) -> None:
    row = connection.execute(
        "SELECT value FROM adk_internal_metadata WHERE \"key\" = 'schema_version'"
    ).fetchone()
    if row is not None and row[0] != "1":
        raise RuntimeError(
            f"{name} has version {row[0]} of the schema of sessions; only version 1 is known here."
            " Was it written by a newer google-adk?"
        )
