"""Artifacts: named, versioned files of a session or, with the prefix `user:`, of a user.

Names are keys in a table and never paths (R22). Versions count from 0 in each scope (adk-runtime:
artifact services). Content is stored separately from names: forks refer to the content of their
parent. A fork has its own `user:` files, which are accessible only through its session.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping

from devui.store.errors import BadValue, SessionNotFound
from devui.store.rows import Artifact, ArtifactFile, ArtifactRow, Json
from devui.store.sessions import require_writable, user_scope
from devui.store.sqlite.database import Database, advance
from devui.store.values import LONGEST_FILE, clean_text, json_text, optional_text, short_text

_USER_PREFIX = "user:"

_Owner = tuple[str, str, str | None, bool]
"""The app, user and session, and whether the file is the user's."""

_SCOPES = "SELECT own_scope, user_scope FROM sessions WHERE app = ? AND user = ? AND id = ?"
_USER_SCOPE = "SELECT id FROM scopes WHERE kind = 'user' AND app = ? AND user = ? AND private = 0"
_KEY = "SELECT key FROM sessions WHERE app = ? AND user = ? AND id = ?"
_NEXT = "SELECT coalesce(max(version) + 1, 0) FROM artifacts WHERE scope = ? AND name = ?"
_INSERT = """
    INSERT INTO artifacts (scope, name, version, mime, size, custom_metadata, created, seq, content)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_FILL = "INSERT INTO contents (text, data) VALUES (?, ?)"
_LOAD = """
    SELECT name, version, mime, size, custom_metadata, created, seq, data, text
    FROM artifacts JOIN contents ON contents.id = artifacts.content
    WHERE scope = ?1 AND name = ?2 AND version = coalesce(?3, (
        SELECT max(newest.version) FROM artifacts AS newest
        WHERE newest.scope = ?1 AND newest.name = ?2
    ))
"""
_VERSIONS = """
    SELECT name, version, mime, size, custom_metadata, created, seq FROM artifacts
    WHERE scope = ? AND name = ? ORDER BY version
"""
_ROWS = """
    SELECT name, version, mime, size, custom_metadata, artifacts.created, artifacts.seq
    FROM sessions
    JOIN artifacts ON artifacts.scope IN (sessions.own_scope, sessions.user_scope)
    JOIN json_each(?2) AS wish ON name = wish.value ->> 0 AND version = wish.value ->> 1
    WHERE sessions.key = ?1
"""
_KEYS = """
    SELECT DISTINCT name FROM artifacts WHERE scope IN (SELECT value FROM json_each(?))
    ORDER BY name
"""
# SQLite takes the other columns from the row with the maximum.
_FILES = """
    SELECT name, max(version), mime, size, custom_metadata, created, seq, count(*) FROM artifacts
    WHERE scope IN (SELECT value FROM json_each(?)) AND seq <= ? GROUP BY scope, name
    ORDER BY name LIMIT ?
"""
_LATEST = 2**63 - 1
_DELETE = "DELETE FROM artifacts WHERE scope = ? AND name = ?"


class Artifacts:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def save(
        self,
        app: str,
        user: str,
        session_id: str | None,
        filename: str,
        *,
        mime: str | None,
        data: bytes | None = None,
        text: str | None = None,
        custom_metadata: Mapping[str, Json] | None = None,
    ) -> int:
        """Store a new version of the file, either bytes or a text, and return its version.

        Raises SessionNotFound if a session's file has no session, ReadOnly if the session was
        imported, BadValue.
        """
        if not filename.removeprefix(_USER_PREFIX):
            raise BadValue("the artifact has no name; give it one, such as report.txt")
        short_text(filename, "the artifact's name", LONGEST_FILE)
        scope = _scope(app, user, session_id, filename)
        optional_text(mime, f"the media type of {filename!r}")
        size = _size(filename, data, text)
        metadata = _metadata(filename, custom_metadata)
        now = self._clock()

        def work(connection: sqlite3.Connection) -> int:
            _require_writable(connection, scope)
            owner = _owner(connection, scope)
            [(version,)] = connection.execute(_NEXT, (owner, filename))
            place = (owner, filename, version, mime, size, metadata, now, advance(connection))
            content = connection.execute(_FILL, (text, data)).lastrowid
            connection.execute(_INSERT, (*place, content))
            return int(version)

        return await self._database.write(work)

    async def load(
        self,
        app: str,
        user: str,
        session_id: str | None,
        filename: str,
        *,
        version: int | None = None,
    ) -> Artifact | None:
        """Return one version of the file, the newest if `version` is None; None if not found."""
        owners = await self._find(_scope(app, user, session_id, filename))
        rows = await self._database.fetch(_LOAD, owners[0], filename, version) if owners else []
        return Artifact(ArtifactRow(*rows[0][:-2]), *rows[0][-2:]) if rows else None

    async def keys(self, app: str, user: str, session_id: str | None) -> list[str]:
        """Return the names of the session's files and, with `user:`, the user's, sorted."""
        owners = await self._find((app, user, session_id, True))
        if session_id:
            owners += await self._find((app, user, session_id, False))
        return [name for (name,) in await self._database.fetch(_KEYS, json.dumps(owners))]

    async def files(
        self, app: str, user: str, session_id: str, *, until: int | None = None, limit: int
    ) -> list[ArtifactFile]:
        """Return at most `limit` files of the session and its user, sorted by name.

        The files are those as of the journal's seq `until`; None means now.
        """
        owners = await self._find((app, user, session_id, True))
        owners += await self._find((app, user, session_id, False))
        end = _LATEST if until is None else until
        rows = await self._database.fetch(_FILES, json.dumps(owners), end, limit)
        return [ArtifactFile(ArtifactRow(*row[:-1]), row[-1]) for row in rows]

    async def versions(
        self, app: str, user: str, session_id: str | None, filename: str
    ) -> list[ArtifactRow]:
        """Return the row of each version, in ascending order, without the content."""
        owners = await self._find(_scope(app, user, session_id, filename))
        rows = await self._database.fetch(_VERSIONS, owners[0], filename) if owners else []
        return [ArtifactRow(*row) for row in rows]

    async def rows(
        self, session: int, versions: Iterable[tuple[str, int]]
    ) -> dict[tuple[str, int], ArtifactRow]:
        """Return the rows of these versions of files, by name and version; leaves out those that
        don't exist."""
        rows = await self._database.fetch(_ROWS, session, json.dumps([*versions]))
        return {(row[0], row[1]): ArtifactRow(*row) for row in rows}

    async def delete(self, app: str, user: str, session_id: str | None, filename: str) -> bool:
        """Delete all versions of the file, and return whether there were any. Raises ReadOnly."""
        scope = _scope(app, user, session_id, filename)
        owners = await self._find(scope)

        def work(connection: sqlite3.Connection) -> bool:
            _require_writable(connection, scope)
            doomed = [(owner, filename) for owner in owners]
            return connection.executemany(_DELETE, doomed).rowcount > 0

        return await self._database.write(work)

    async def _find(self, owner: _Owner) -> list[int]:
        """Return a list with the scope's id, or an empty list if the scope doesn't exist."""
        app, user, session_id, of_user = owner
        if session_id is not None:
            rows = await self._database.fetch(_SCOPES, app, user, session_id)
            if rows or not of_user:
                return [row[of_user] for row in rows]
        return [row[0] for row in await self._database.fetch(_USER_SCOPE, app, user)]


def _scope(app: str, user: str, session_id: str | None, filename: str) -> _Owner:
    clean_text(app, "the application's name")
    clean_text(user, "the user's id")
    clean_text(filename, "the artifact's name")
    of_user = filename.startswith(_USER_PREFIX)
    if session_id is None and not of_user:
        raise BadValue(
            f"the artifact {filename!r} needs a session; name it {_USER_PREFIX + filename!r} to "
            "share it among the user's sessions"
        )
    if session_id is not None:
        clean_text(session_id, "the session's id")
    return app, user, session_id, of_user


def _owner(connection: sqlite3.Connection, scope: _Owner) -> int:
    app, user, session_id, of_user = scope
    rows = connection.execute(_SCOPES, (app, user, session_id)).fetchall()
    if not rows and of_user:
        return user_scope(connection, app, user)
    if not rows:
        raise SessionNotFound(f"user {user!r} of {app!r} has no session {session_id!r}")
    return int(rows[0][of_user])


def _require_writable(connection: sqlite3.Connection, scope: _Owner) -> None:
    for (key,) in connection.execute(_KEY, scope[:3]):
        require_writable(connection, key)


def _size(filename: str, data: bytes | None, text: str | None) -> int:
    if data is not None and text is None:
        return len(data)
    if text is not None and data is None:
        return len(clean_text(text, f"the text of {filename!r}").encode())
    raise BadValue(f"the artifact {filename!r} must be either data or a text")


def _metadata(filename: str, metadata: Mapping[str, Json] | None) -> str | None:
    if metadata is None:
        return None
    return json_text(dict(metadata), f"the metadata of {filename!r}")
