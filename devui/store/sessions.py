"""Sessions: their app, user, id, title and initial state."""

import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from devui.store.errors import ReadOnly, RunActive, SessionExists, SessionNotFound
from devui.store.rows import Json, SessionRow
from devui.store.search import forget
from devui.store.sqlite.database import Database, advance
from devui.store.state import Routed, Scopes, prefixed, route_initial, write_state
from devui.store.values import bounded, clean_text, name_text, optional_text, parse_json

_GET = "SELECT * FROM session_rows WHERE key = ?"
_FIND = "SELECT * FROM session_rows WHERE app = ? AND user = ? AND id = ?"
_LIST = "SELECT * FROM session_rows WHERE app = ? ORDER BY updated DESC, seq DESC LIMIT ?"
_LIST_OF_USER = """
    SELECT * FROM session_rows WHERE app = ? AND user = ? ORDER BY updated DESC, seq DESC LIMIT ?
"""
_NAMED = """
    SELECT * FROM session_rows WHERE id = ?1 AND (?2 IS NULL OR app = ?2)
      AND (?3 IS NULL OR user = ?3) ORDER BY updated DESC, seq DESC LIMIT ?4
"""
_RECENT = "SELECT * FROM session_rows ORDER BY updated DESC, seq DESC LIMIT ?"
_WITH_EVENT = """
    SELECT * FROM session_rows
    WHERE (?2 IS NULL OR app = ?2)
      AND EXISTS (SELECT 1 FROM events WHERE session = key AND events.id = ?1)
    ORDER BY updated DESC, seq DESC
"""
_STARRED = """
    SELECT session_rows.* FROM notes JOIN session_rows ON session_rows.key = notes.session
    WHERE notes.number = 0 AND notes.starred = 1 AND (?1 IS NULL OR session_rows.app = ?1)
    ORDER BY session_rows.updated DESC, session_rows.seq DESC LIMIT ?2
"""
_UNUSED = """
    SELECT session_rows.* FROM session_rows
    WHERE (?2 IS NULL OR app = ?2)
      AND max(created, updated,
              coalesce((SELECT max(started) FROM runs WHERE session = key), 0)) <= ?1
      AND NOT EXISTS (SELECT 1 FROM notes WHERE session = key)
      AND NOT EXISTS (SELECT 1 FROM tags WHERE session = key)
      AND NOT EXISTS (
          SELECT 1 FROM runs WHERE session = key AND status IN ('running', 'stopping')
      )
    ORDER BY session_rows.seq
"""
_COUNT = "SELECT app, count(*), max(updated) FROM sessions GROUP BY app"
_INSERT = """
    INSERT INTO sessions (app, user, id, title, created, updated, seq, born,
                          own_scope, user_scope, app_scope)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_RENAME = "UPDATE sessions SET title = ?, seq = ? WHERE key = ?"
_NAME = "UPDATE sessions SET title = ?, seq = ? WHERE key = ? AND title IS NULL"
_ACTIVE = "SELECT id FROM runs WHERE session = ? AND status IN ('running', 'stopping')"
_DELETE = "DELETE FROM sessions WHERE key = ? RETURNING own_scope, user_scope, app_scope"
_DELETE_SCOPES = """
    DELETE FROM scopes WHERE id IN (?, ?, ?) AND (kind = 'session' OR private = 1)
"""
_IMPORTED = "SELECT 1 FROM imports WHERE session = ?"
_INITIAL = """
    SELECT scopes.kind, writes.key, writes.value
    FROM sessions
    JOIN writes ON writes.seq = sessions.born
    JOIN scopes ON scopes.id = writes.scope
    WHERE sessions.key = ?
"""
_INITIAL_KEYS = """
    SELECT count(*) FROM sessions JOIN writes ON writes.seq = sessions.born WHERE sessions.key = ?
"""

History = Callable[[sqlite3.Connection, int], None]
"""Appends the first events to the session with this key, inside the job that creates it."""

_ADD_SCOPE = "INSERT INTO scopes (kind, app, user, private) VALUES (?, ?, ?, ?)"
_USER_SCOPE = "SELECT id FROM scopes WHERE kind = 'user' AND app = ? AND user = ? AND private = 0"
_APP_SCOPE = "SELECT id FROM scopes WHERE kind = 'app' AND app = ? AND private = 0"

_NO_LIMIT = -1


class Sessions:
    """Reads and writes sessions.

    Unless stated otherwise, lists begin with the most recently active session: the time of its last
    event or, without events, of its creation counts. Titles, notes and tags don't.
    """

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def create(
        self,
        app: str,
        user: str,
        session_id: str | None,
        initial_state: Mapping[str, Json],
        *,
        title: str | None = None,
        history: History | None = None,
    ) -> SessionRow:
        """Create a session and record its initial state in the three scopes.

        Replaces a missing or blank id by a random one, strips others as ADK does, and drops `temp:`
        keys. Appends `history` in the same transaction, so that the session isn't created if that
        fails. Raises SessionExists, BadValue, and whatever `history` raises.
        """
        new_id = (session_id or "").strip() or str(uuid.uuid4())
        clean_text(app, "the application's name")
        name_text(user, "the user's id")
        name_text(new_id, "the session's id")
        optional_text(title, "the title")
        routed = route_initial(initial_state)
        now = self._clock()

        def work(connection: sqlite3.Connection) -> SessionRow:
            require_free(connection, app, user, new_id)
            row = _create(connection, (app, user, new_id, title), routed, now)
            if history is None:
                return row
            history(connection, row.key)
            return require_session(connection, row.key)

        size = None if history else sum(len(value) for _, _, value in routed)
        return await self._database.write(work, size=size)

    async def get(self, key: int) -> SessionRow | None:
        return _one(await self._database.find(_GET, key))

    async def find(self, app: str, user: str, session_id: str) -> SessionRow | None:
        """Return the session with this id, if any; strips the id as `create` does."""
        return _one(await self._database.find(_FIND, app, user, session_id.strip()))

    async def with_id(
        self, session_id: str, app: str | None, user: str | None = None, limit: int = -1
    ) -> list[SessionRow]:
        """Return at most `limit` sessions with this id, or all if it is -1.

        An `app` or `user` of None means any.
        """
        names = (session_id.strip(), app, user)
        return [SessionRow(*row) for row in await self._database.fetch(_NAMED, *names, limit)]

    async def with_event(self, app: str | None, event_id: str) -> Sequence[SessionRow]:
        """Return the sessions that contain the event, including forks."""
        rows = await self._database.fetch(_WITH_EVENT, event_id, app)
        return [SessionRow(*row) for row in rows]

    async def recent(self, limit: int) -> list[SessionRow]:
        """Return at most `limit` sessions of all apps."""
        return [SessionRow(*row) for row in await self._database.fetch(_RECENT, max(limit, 0))]

    async def starred(
        self, app: str | None = None, limit: int | None = None
    ) -> Sequence[SessionRow]:
        """Return the starred sessions of one app, or of all."""
        count = _NO_LIMIT if limit is None else max(limit, 0)
        return [SessionRow(*row) for row in await self._database.fetch(_STARRED, app, count)]

    async def unused(self, seconds: float, app: str | None = None) -> Sequence[SessionRow]:
        """Return the sessions of one app, or of all, that have been inactive for this long.

        Sorted by seq, ascending. Leaves out sessions with an active run, those with a tag, and
        those with a star or note on themselves or an event. Since events can have arbitrary
        timestamps, the time of creation counts, too.
        """
        until = self._clock() - seconds
        return [SessionRow(*row) for row in await self._database.fetch(_UNUSED, until, app)]

    async def counts(self) -> dict[str, tuple[int, float]]:
        """Return each app's number of sessions, and the time of the last activity in them."""
        rows = await self._database.fetch(_COUNT)
        return {app: (count, updated) for app, count, updated in rows}

    async def list(
        self, app: str, user: str | None = None, limit: int | None = None
    ) -> list[SessionRow]:
        """Return the app's sessions: all, or those of one user."""
        count = _NO_LIMIT if limit is None else max(limit, 0)
        if user is None:
            rows = await self._database.fetch(_LIST, app, count)
        else:
            rows = await self._database.fetch(_LIST_OF_USER, app, user, count)
        return [SessionRow(*row) for row in rows]

    async def rename(self, key: int, title: str | None) -> SessionRow:
        """Set the session's title, which isn't part of the agent's state; None removes it.

        Raises SessionNotFound, BadValue.
        """
        optional_text(title, "the title")

        def work(connection: sqlite3.Connection) -> SessionRow:
            connection.execute(_RENAME, (title, advance(connection), bounded(key)))
            return require_session(connection, key)

        return await self._database.write(work)

    async def delete(self, key: int) -> bool:
        """Delete the session with its events, runs, chunks, own state and own artifacts.

        Its writes to `user:` and `app:` keys stay, unless those scopes are its own, as in a fork.
        Returns whether the session existed. Raises RunActive while it has an active run.
        """

        def work(connection: sqlite3.Connection) -> bool:
            active = connection.execute(_ACTIVE, (bounded(key),)).fetchall()
            if active:
                raise RunActive(
                    f"session {key!r} has the active run {active[0][0]!r}: stop it first"
                )
            return delete_session(connection, key)

        return await self._database.write(work)

    async def initial_state(self, key: int) -> dict[str, Json]:
        """Return the state that the session was created with; keys have their prefixes."""
        rows = await self._database.find(_INITIAL, key)
        return {prefixed(kind, name): parse_json(value) for kind, name, value in rows}

    async def initial_keys(self, key: int) -> int:
        """Return the number of state keys that the session was created with."""
        return int((await self._database.find(_INITIAL_KEYS, key))[0][0])


def set_first_title(connection: sqlite3.Connection, key: int, title: str) -> None:
    """Set the session's title unless it has one; for use inside a job."""
    connection.execute(_NAME, (title, advance(connection), key))


def delete_session(connection: sqlite3.Connection, key: int) -> bool:
    """Delete the session with everything of its own; for use inside a job.

    Returns whether it existed.
    """
    forget(connection, key)
    scopes = connection.execute(_DELETE, (bounded(key),)).fetchall()
    connection.executemany(_DELETE_SCOPES, scopes)
    return bool(scopes)


def require_session(connection: sqlite3.Connection, key: int) -> SessionRow:
    """Return the session's row, or raise SessionNotFound; for use inside a job."""
    row = _one(connection.execute(_GET, (bounded(key),)).fetchall())
    if row is None:
        raise SessionNotFound(f"no session has the key {key!r}; it may have been deleted")
    return row


def require_writable(connection: sqlite3.Connection, key: int) -> None:
    """Raise ReadOnly if the session was imported as read-only; for use inside a job."""
    if connection.execute(_IMPORTED, (bounded(key),)).fetchall():
        raise ReadOnly(f"session {key} was imported and is read-only: fork it to continue")


def require_free(connection: sqlite3.Connection, app: str, user: str, name: str) -> None:
    """Raise SessionExists if the user has a session with this id; for use inside a job."""
    row = _one(connection.execute(_FIND, (app, user, name)).fetchall())
    if row is not None:
        raise SessionExists(
            f"user {user!r} of {app!r} already has a session {name!r}; choose another id", row.key
        )


def user_scope(connection: sqlite3.Connection, app: str, user: str) -> int:
    """Return the id of the user's scope, creating it on first use; for use inside a job."""
    rows = connection.execute(_USER_SCOPE, (app, user)).fetchall()
    return int(rows[0][0]) if rows else _add_scope(connection, "user", app, user)


def private_scopes(connection: sqlite3.Connection, app: str, user: str) -> Scopes:
    """Create three scopes that no other session writes to; for use inside a job."""
    return Scopes(
        session=_add_scope(connection, "session", app, user),
        user=_add_scope(connection, "user", app, user, private=True),
        app=_add_scope(connection, "app", app, None, private=True),
    )


def shared_scopes(connection: sqlite3.Connection, app: str, user: str) -> Scopes:
    """Create a scope for one session, and return it with the user's and app's shared scopes.

    For use inside a job.
    """
    return Scopes(
        session=_add_scope(connection, "session", app, user),
        user=user_scope(connection, app, user),
        app=_app_scope(connection, app),
    )


def _app_scope(connection: sqlite3.Connection, app: str) -> int:
    rows = connection.execute(_APP_SCOPE, (app,)).fetchall()
    return int(rows[0][0]) if rows else _add_scope(connection, "app", app, None)


def _add_scope(
    connection: sqlite3.Connection, kind: str, app: str, user: str | None, *, private: bool = False
) -> int:
    added = connection.execute(_ADD_SCOPE, (kind, app, user, private)).lastrowid
    assert added is not None  # noqa: S101 - an INSERT into a rowid table always has one
    return added


def _create(
    connection: sqlite3.Connection,
    names: tuple[str, str, str, str | None],
    routed: list[Routed],
    now: float,
) -> SessionRow:
    app, user, _, _ = names
    scopes = shared_scopes(connection, app, user)
    seq = advance(connection)
    key = connection.execute(_INSERT, (*names, now, now, seq, seq, *scopes)).lastrowid
    write_state(connection, seq, scopes, routed)
    return require_session(connection, key or 0)


def _one(rows: list[tuple[Any, ...]]) -> SessionRow | None:
    return SessionRow(*rows[0]) if rows else None
