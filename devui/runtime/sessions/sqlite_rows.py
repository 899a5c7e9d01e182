"""Reads and writes the rows of a file of sessions (adk-runtime 2.5, 2.6)."""

import json
import sqlite3
from datetime import UTC, datetime
from enum import Enum
from typing import Any, NamedTuple

from devui.runtime.collecting import collector_paused
from devui.runtime.databases import tables
from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError, StaleSessionError
from devui.runtime.events.event import Event
from devui.runtime.events.reading import read_event
from devui.runtime.sessions.base_session_service import GetSessionConfig, given_id
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import ScopedState, State
from devui.runtime.sessions.storable import (
    is_whole,
    make_json_safe_state,
    make_storable,
    read_iterators,
)

# The two layouts of session files that google-adk writes (adk-runtime 2.5, 2.6).
#
# They have the same tables and the same JSON, but store times differently: the layout of
# `SqliteSessionService` as unix seconds, that of `DatabaseSessionService` (version 1) as a
# text in UTC.


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
    """How a file stores times."""

    SECONDS = "SqliteSessionService"
    DATES = "DatabaseSessionService"

    def time(self, seconds: float) -> float | str:
        """Return a time as this layout stores it; texts sort chronologically."""
        if self is Layout.SECONDS:
            return seconds
        moment = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        return moment.isoformat(sep=" ", timespec="microseconds")


def seconds(moment: float | str) -> float:
    """Return a stored time in unix seconds, whatever the layout."""
    if isinstance(moment, str):
        return datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    return moment


def open_layout(connection: sqlite3.Connection, layout_if_new: Layout, name: str) -> Layout:
    """Return the layout of a file; an empty one gets `layout_if_new`.

    Raises:
        RuntimeError: The file has an older or newer version, or isn't a file of sessions.
    """
    table_names = tables(connection)
    if "events" not in table_names and "sessions" not in table_names:
        is_seconds = layout_if_new is Layout.SECONDS
        connection.executescript(_SECONDS_SCHEMA if is_seconds else _DATES_SCHEMA)
        return layout_if_new
    columns = {row["name"]: row["type"] for row in connection.execute("PRAGMA table_info(events)")}
    if "event_data" not in columns:
        raise RuntimeError(
            f"{name} contains sessions written by an old version of google-adk, in a format that"
            " can't be read safely. Convert a copy with google-adk:"
            " adk migrate session --source_db_url=sqlite:///old.db --dest_db_url=sqlite:///new.db"
        )
    if "adk_internal_metadata" in table_names:
        _check_version(connection, name)
    return Layout.SECONDS if columns.get("timestamp") == "REAL" else Layout.DATES


def _check_version(connection: sqlite3.Connection, name: str) -> None:
    row = connection.execute(
        "SELECT value FROM adk_internal_metadata WHERE \"key\" = 'schema_version'"
    ).fetchone()
    if row is not None and row[0] != "1":
        raise RuntimeError(
            f"{name} has session schema version {row[0]}, but only version 1 is supported."
            " Was it written by a newer google-adk?"
        )


# Selects rows by their sort keys alone: sorting whole events would take three times as long.
_NEWEST = {
    Layout.SECONDS: (
        "SELECT id, invocation_id, timestamp, event_data FROM events WHERE rowid IN ("
        "SELECT rowid FROM events"
        " WHERE app_name = ? AND user_id = ? AND session_id = ? AND timestamp >= ?"
        " ORDER BY timestamp DESC, rowid DESC LIMIT ?) ORDER BY timestamp, rowid"
    ),
    Layout.DATES: (
        "SELECT id, invocation_id, timestamp, event_data FROM events WHERE rowid IN ("
        "SELECT rowid FROM events"
        " WHERE app_name = ? AND user_id = ? AND session_id = ? AND timestamp >= ?"
        " ORDER BY timestamp DESC, id DESC LIMIT ?) ORDER BY timestamp, id"
    ),
}
_ALL = -1
# A whole session needs no selection, which would read each event once more.
_WHOLE = {
    Layout.SECONDS: (
        "SELECT id, invocation_id, timestamp, event_data FROM events WHERE rowid IN ("
        "SELECT rowid FROM events WHERE app_name = ? AND user_id = ? AND session_id = ?"
        ") ORDER BY timestamp, rowid"
    ),
    Layout.DATES: (
        "SELECT id, invocation_id, timestamp, event_data FROM events WHERE rowid IN ("
        "SELECT rowid FROM events WHERE app_name = ? AND user_id = ? AND session_id = ?"
        ") ORDER BY timestamp, id"
    ),
}
# Counting a text's characters instead would take three times as long.
_SIZES = (
    "SELECT length(CAST(event_data AS BLOB)) FROM events"
    " WHERE app_name = ? AND user_id = ? AND session_id = ? LIMIT ?"
)
_FEW = 20
"""Reading this many events is instant if all are small."""
SMALL = 100_000
"""Reading this many bytes of events is instant."""
_SET_APP = (
    "INSERT INTO app_states (app_name, state, update_time) VALUES (?, ?, ?) ON CONFLICT"
    " DO UPDATE SET state = excluded.state, update_time = excluded.update_time"
)
_SET_USER = (
    "INSERT INTO user_states (app_name, user_id, state, update_time) VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET state = excluded.state, update_time = excluded.update_time"
)

_APP_EXISTS = (
    "INSERT INTO app_states (app_name, state, update_time) VALUES (?, '{}', ?)"
    " ON CONFLICT DO NOTHING"
)
_USER_EXISTS = (
    "INSERT INTO user_states (app_name, user_id, state, update_time) VALUES (?, ?, '{}', ?)"
    " ON CONFLICT DO NOTHING"
)
_ADD_EVENT = (
    "INSERT INTO events (id, invocation_id, app_name, user_id, session_id, timestamp, event_data)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SET_SESSION = (
    "UPDATE sessions SET state = ?, update_time = ? WHERE app_name = ? AND user_id = ? AND id = ?"
)
_TOUCH_SESSION = (
    "UPDATE sessions SET update_time = ?"
    " WHERE app_name = ? AND user_id = ? AND id = ? AND update_time = ?"
)


class Key(NamedTuple):
    """The key of a session."""

    app: str
    user: str
    id: str


class StoredEvent(NamedTuple):
    """An event as it goes into the file, detached from what the agent may still change."""

    id: str
    invocation_id: str
    timestamp: float
    data: str
    delta: ScopedState

    @classmethod
    def of(cls, event: Event) -> "StoredEvent":
        """Serialize the event without its `temp:` keys; if it has no JSON form, change it first."""
        try:
            read_iterators(event)
            stored_event = cls._as_it_is(event)
        except (ValueError, RecursionError):
            stored_event = None
        if stored_event is not None and is_whole(stored_event.data):
            return stored_event
        make_storable(event)
        return cls._as_it_is(event)

    @classmethod
    def _as_it_is(cls, event: Event) -> "StoredEvent":
        delta = event.actions.state_delta
        lasting_delta = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
        if len(lasting_delta) < len(delta):
            actions = event.actions.model_copy(update={"state_delta": lasting_delta})
            event = event.model_copy(update={"actions": actions})
        data = event.model_dump_json(exclude_none=True)
        scoped = ScopedState.of(make_json_safe_state(lasting_delta) if lasting_delta else {})
        return cls(event.id, event.invocation_id, event.timestamp, data, scoped)


def stored_key(connection: sqlite3.Connection, key: Key) -> Key:
    """Return the key as it is in the file: as given, or without whitespace around the id."""
    bare = given_id(key.id)
    return key if bare == key.id or _session_row(connection, key) else key._replace(id=bare)


def insert_session(
    connection: sqlite3.Connection, layout: Layout, key: Key, scoped: ScopedState, *, now: float
) -> Session:
    """Store a new session with its initial state of all scopes; raises AlreadyExistsError."""
    moment = layout.time(now)
    try:
        connection.execute(
            "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (*key, json.dumps(scoped.session), moment, moment),
        )
    except sqlite3.IntegrityError as error:
        raise AlreadyExistsError.of_session(key.id) from error
    # google-adk expects these rows even if no state is shared.
    connection.execute(_APP_EXISTS, (key.app, moment))
    connection.execute(_USER_EXISTS, (key.app, key.user, moment))
    _merge_shared(connection, key, scoped, moment)
    return _session(key, _merge_state(connection, key, scoped.session), seconds(moment))


def select_session(connection: sqlite3.Connection, key: Key) -> Session | None:
    """Return the session without its events, or None if it doesn't exist."""
    row = _session_row(connection, key)
    if row is None:
        return None
    state = _merge_state(connection, key, json.loads(row["state"]))
    return _session(key, state, seconds(row["update_time"]))


def select_events(
    connection: sqlite3.Connection, layout: Layout, key: Key, config: GetSessionConfig | None
) -> list[Event]:
    """Return the selected events of a session, oldest first."""
    with collector_paused():
        return [_event(row) for row in _event_rows(connection, layout, key, config).fetchall()]


def is_short(connection: sqlite3.Connection, key: Key) -> bool:
    """Return whether the session has so few and small events that reading them is instant."""
    total = 0
    for count, (size,) in enumerate(connection.execute(_SIZES, (*key, _FEW + 1)), start=1):
        total += size or 0
        if count > _FEW or total > SMALL:
            return False
    return True


def select_sessions(connection: sqlite3.Connection, app: str, user: str | None) -> list[Session]:
    """Return the sessions of a user or of all, without events, least recently changed first."""
    rows = connection.execute(
        "SELECT user_id, id, state, update_time FROM sessions"
        " WHERE app_name = ? AND (? IS NULL OR user_id = ?) ORDER BY update_time, user_id, id",
        (app, user, user),
    ).fetchall()
    shared_by_app = app_state(connection, app)
    by_user = {name: user_state(connection, app, name) for name in {row[0] for row in rows}}
    sessions = []
    for row in rows:
        scoped = ScopedState(shared_by_app, by_user[row["user_id"]], json.loads(row["state"]))
        key = Key(app, row["user_id"], row["id"])
        sessions.append(_session(key, scoped.as_dict(), seconds(row["update_time"])))
    return sessions


def delete_session(connection: sqlite3.Connection, key: Key) -> None:
    """Delete a session and, by its foreign key, its events."""
    connection.execute("DELETE FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key)


def insert_event(
    connection: sqlite3.Connection,
    layout: Layout,
    key: Key,
    event: StoredEvent,
    *,
    last_seen: float,
) -> float | None:
    """Store an event and its state changes; return the session's new time of change.

    If the same event is already stored, change nothing and return None. `last_seen` is the time
    of change that the caller knows.

    Raises:
        SessionNotFoundError: The session doesn't exist.
        AlreadyExistsError: Another event of the session has that id.
        StaleSessionError: The session was changed after `last_seen`.
    """
    moment = layout.time(event.timestamp)
    try:
        connection.execute(_ADD_EVENT, (event.id, event.invocation_id, *key, moment, event.data))
    except sqlite3.IntegrityError:
        _existing(connection, key)
        if not _is_stored(connection, key, event):
            raise
        return None
    if event.delta.session or not _touched(connection, key, moment, last_seen=last_seen):
        row = _existing(connection, key)
        if seconds(row["update_time"]) > last_seen:
            raise StaleSessionError(
                f"Session {key.id!r} was changed after this copy of it was read. Read it again with"
                " get_session, then append."
            )
        state = json.dumps({**_state(row), **event.delta.session})
        connection.execute(_SET_SESSION, (state, moment, *key))
    _merge_shared(connection, key, event.delta, moment)
    return seconds(moment)


def app_state(connection: sqlite3.Connection, app: str) -> dict[str, Any]:
    """Return the state of an app, keys without prefix."""
    return _state(
        connection.execute("SELECT state FROM app_states WHERE app_name = ?", (app,)).fetchone()
    )


def user_state(connection: sqlite3.Connection, app: str, user: str) -> dict[str, Any]:
    """Return the state of a user, keys without prefix."""
    return _state(
        connection.execute(
            "SELECT state FROM user_states WHERE app_name = ? AND user_id = ?", (app, user)
        ).fetchone()
    )


def _session_row(connection: sqlite3.Connection, key: Key) -> Any:
    return connection.execute(
        "SELECT state, update_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?",
        key,
    ).fetchone()


def _existing(connection: sqlite3.Connection, key: Key) -> Any:
    row = _session_row(connection, key)
    if row is None:
        raise SessionNotFoundError(
            f"Session {key.id!r} of app {key.app!r} and user {key.user!r} does not exist; it may"
            " have been deleted."
        )
    return row


def _touched(
    connection: sqlite3.Connection, key: Key, moment: float | str, *, last_seen: float
) -> bool:
    """Set the time of change if it is still the one last seen; times stored as texts never are."""
    values = (moment, *key, last_seen)
    return connection.execute(_TOUCH_SESSION, values).rowcount == 1


def _event_rows(
    connection: sqlite3.Connection, layout: Layout, key: Key, config: GetSessionConfig | None
) -> sqlite3.Cursor:
    if config is None:
        return connection.execute(_WHOLE[layout], key)
    after, recent = config.after_timestamp or 0.0, config.num_recent_events
    limit = _ALL if recent is None else recent
    return connection.execute(_NEWEST[layout], (*key, layout.time(after), limit))


def _is_stored(connection: sqlite3.Connection, key: Key, event: StoredEvent) -> bool:
    row = connection.execute(
        "SELECT event_data FROM events"
        " WHERE app_name = ? AND user_id = ? AND session_id = ? AND id = ?",
        (*key, event.id),
    ).fetchone()
    if row is not None and json.loads(row[0]) != json.loads(event.data):
        raise AlreadyExistsError(f"Session {key.id!r} has another event with the id {event.id!r}.")
    return row is not None


def _merge_shared(
    connection: sqlite3.Connection, key: Key, scoped: ScopedState, moment: float | str
) -> None:
    if scoped.app:
        state = {**app_state(connection, key.app), **scoped.app}
        connection.execute(_SET_APP, (key.app, json.dumps(state), moment))
    if scoped.user:
        state = {**user_state(connection, key.app, key.user), **scoped.user}
        connection.execute(_SET_USER, (key.app, key.user, json.dumps(state), moment))


def _merge_state(
    connection: sqlite3.Connection, key: Key, session: dict[str, Any]
) -> dict[str, Any]:
    return ScopedState(
        app=app_state(connection, key.app),
        user=user_state(connection, key.app, key.user),
        session=session,
    ).as_dict()


def _session(key: Key, state: dict[str, Any], changed: float) -> Session:
    return Session(
        id=key.id, app_name=key.app, user_id=key.user, state=state, last_update_time=changed
    )


def _state(row: Any) -> dict[str, Any]:
    return {} if row is None else dict(json.loads(row[0]))


def _event(row: Any) -> Event:
    if row["event_data"] is None:
        return Event(
            id=row["id"],
            invocation_id=row["invocation_id"],
            timestamp=seconds(row["timestamp"]),
        )
    return read_event(row["event_data"])
