"""State by scope, as of any moment.

Every write of a key is stored under the seq of its event, or of the session's creation. The value
as of a seq is the latest write up to it, found by index, so the cost depends on the number of keys
and not on the length of the session. Keys without a prefix belong to the session, `user:` keys to
all of the user's sessions, `app:` keys to all of the app's. `temp:` keys are never stored
(adk-runtime 1.4).
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from devui.store.errors import BadValue, JournalDamaged, StaleSession
from devui.store.rows import Change, Json, Scope, Value
from devui.store.sqlite.database import Database
from devui.store.summaries import Damaged
from devui.store.values import clean_text, json_text, parse_json

_LATEST = 2**63 - 1
_WHOLE_TEXT = 2**31 - 1
"""A number of characters that no text in SQLite exceeds."""

_PREFIXES: dict[str, Scope] = {"user:": "user", "app:": "app"}
_TEMPORARY = "temp:"
_RANK: dict[Scope, int] = {"session": 0, "user": 1, "app": 2}

Routed = tuple[Scope, str, str]
"""The scope, the key without its prefix, and the value as JSON text."""


class Page(NamedTuple):
    """A page of the keys of one scope, in order."""

    values: list[Value]
    """Longer values than requested are truncated, and then aren't valid JSON."""
    following: str | None
    """The first key after them; None at the end."""


class Scopes(NamedTuple):
    """The ids of the three scopes that a session writes to."""

    session: int
    user: int
    app: int


_SCOPES_OF_SESSION = """
    WITH RECURSIVE
    mine (scope, kind) AS (
        SELECT scopes.id, scopes.kind FROM sessions
        JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?2
    ),
"""
_SHARED_SCOPES = """
    WITH RECURSIVE
    mine (scope, kind) AS (
        SELECT scopes.id, scopes.kind FROM sessions
        JOIN scopes ON scopes.id IN (user_scope, app_scope)
        WHERE sessions.key = ?2
    ),
"""
# One step of the recursion per key: the next larger key of the scope, found by index.
_VALUES = """
    keys (scope, kind, key) AS (
        SELECT mine.scope, mine.kind,
               (SELECT min(writes.key) FROM writes WHERE writes.scope = mine.scope)
        FROM mine
        UNION ALL
        SELECT keys.scope, keys.kind,
               (SELECT min(writes.key) FROM writes
                WHERE writes.scope = keys.scope AND writes.key > keys.key)
        FROM keys WHERE keys.key IS NOT NULL
    )
    SELECT keys.kind, keys.key, writes.value, writes.seq, events.number,
           writes.seq = (SELECT born FROM sessions WHERE sessions.key = ?2)
    FROM keys
    JOIN writes ON writes.scope = keys.scope AND writes.key = keys.key AND writes.seq = (
        SELECT max(earlier.seq) FROM writes AS earlier
        WHERE earlier.scope = keys.scope AND earlier.key = keys.key AND earlier.seq <= ?1
    )
    LEFT JOIN events ON events.seq = writes.seq AND events.session = ?2
    WHERE keys.key IS NOT NULL
"""
_AT = _SCOPES_OF_SESSION + _VALUES
_SHARED = _SHARED_SCOPES + _VALUES

# The same from one key on, until enough are found, so that a page costs what it shows.
_KEYS = """
    WITH RECURSIVE
    mine (scope) AS (
        SELECT scopes.id FROM sessions
        JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope)
        WHERE sessions.key = ?2 AND scopes.kind = ?3
    ),
    keys (scope, key) AS (
        SELECT scope, (SELECT min(key) FROM writes WHERE writes.scope = mine.scope AND key >= ?4)
        FROM mine
        UNION ALL
        SELECT keys.scope, (SELECT min(key) FROM writes
                            WHERE writes.scope = keys.scope AND writes.key > keys.key)
        FROM keys WHERE keys.key IS NOT NULL
    )
"""
_WRITTEN = """
    FROM keys
    CROSS JOIN writes ON writes.scope = keys.scope AND writes.key = keys.key AND writes.seq = (
        SELECT max(earlier.seq) FROM writes AS earlier
        WHERE earlier.scope = keys.scope AND earlier.key = keys.key AND earlier.seq <= ?1
    )
    LEFT JOIN events ON events.seq = writes.seq AND events.session = ?2
    WHERE keys.key IS NOT NULL AND (?5 = '' OR instr(lower(keys.key), lower(?5)) > 0)
    LIMIT ?6
"""
_LISTED_VALUES = """
    SELECT ?3, keys.key, substr(writes.value, 1, ?7), writes.seq, events.number,
           writes.seq = (SELECT born FROM sessions WHERE sessions.key = ?2)
"""
_KEYS_SHOWN = _KEYS + _LISTED_VALUES
_KEYS_COUNTED = _KEYS + "SELECT count(*)"
_PAGE = _KEYS_SHOWN + _WRITTEN
_COUNT = _KEYS_COUNTED + _WRITTEN
_WHOLE = """
    SELECT writes.value FROM sessions
    JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope) AND scopes.kind = ?
    JOIN writes ON writes.scope = scopes.id AND writes.key = ? AND writes.seq <= ?
    WHERE sessions.key = ? ORDER BY writes.seq DESC LIMIT 1
"""

_WRITTEN_AT = """
    SELECT coalesce(max(writes.seq), 0) FROM sessions
    JOIN scopes ON scopes.id IN (own_scope, user_scope, app_scope) AND scopes.kind = ?
    JOIN writes ON writes.scope = scopes.id AND writes.key = ?
    WHERE sessions.key = ?
"""

_CHANGES = """
    SELECT scopes.kind, writes.key, (
        SELECT substr(earlier.value, 1, ?4) FROM writes AS earlier
        WHERE earlier.scope = writes.scope AND earlier.key = writes.key
          AND earlier.seq < writes.seq
        ORDER BY earlier.seq DESC LIMIT 1
    ), substr(writes.value, 1, ?4)
    FROM events
    JOIN writes ON writes.seq = events.seq
    JOIN scopes ON scopes.id = writes.scope
    WHERE events.session = ?1 AND events.number = ?2
    ORDER BY writes.scope, writes.key LIMIT ?3
"""
_CHANGED = """
    SELECT count(*) FROM events JOIN writes ON writes.seq = events.seq
    WHERE events.session = ? AND events.number = ?
"""

_MOMENT = """
    SELECT CASE WHEN ?2 = 0 THEN born
           ELSE (SELECT seq FROM events WHERE session = ?1 AND number = ?2) END
    FROM sessions WHERE key = ?1
"""

_WRITE = "INSERT INTO writes (seq, scope, key, value) VALUES (?, ?, ?, ?)"


class State:
    """Reads state. It is written along with the events and sessions that change it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def at(self, session_key: int, seq: int | None = None) -> list[Value]:
        """Return every key of all three scopes as of the journal's seq; None means now.

        Includes what other sessions wrote to `user:` and `app:` keys up to that seq. Sorted by
        scope (session, user, app) and key; empty for an unknown session.
        """
        limit = _LATEST if seq is None else seq
        return _values(await self._database.find(_AT, limit, session_key))

    async def moment(self, session_key: int, number: int) -> int | None:
        """Return the seq of the session's event with this number; 0 stands for its creation.

        None if there is no such event or session.
        """
        rows = await self._database.fetch(_MOMENT, session_key, number)
        return rows[0][0] if rows else None

    async def page(
        self,
        session_key: int,
        scope: Scope,
        seq: int | None = None,
        *,
        start: str = "",
        find: str = "",
        limit: int,
        longest: int,
    ) -> Page:
        """Return the keys of a scope as of the journal's seq, from the key `start` on.

        Returns at most `limit` keys that contain `find`, ignoring case, and at most `longest`
        characters of each value.
        """
        at = _LATEST if seq is None else seq
        parameters = (at, session_key, scope, start, find, limit + 1, longest)
        values = _values(await self._database.fetch(_PAGE, *parameters))
        return Page(values[:limit], values[limit].key if len(values) > limit else None)

    async def count(
        self,
        session_key: int,
        scope: Scope,
        seq: int | None = None,
        *,
        start: str = "",
        find: str = "",
    ) -> int:
        """Return how many keys `page` would return without a limit."""
        at = _LATEST if seq is None else seq
        rows = await self._database.fetch(_COUNT, at, session_key, scope, start, find, 1)
        return int(rows[0][0])

    async def value(
        self, session_key: int, scope: Scope, key: str, seq: int | None = None
    ) -> str | None:
        """Return the whole value of a key as JSON text; None if it wasn't written by then."""
        at = _LATEST if seq is None else seq
        rows = await self._database.fetch(_WHOLE, scope, key, at, session_key)
        return rows[0][0] if rows else None

    async def last_written(self, session_key: int, scope: Scope, key: str) -> int:
        """Return the seq of the last write of a key; 0 if it was never written."""
        return int((await self._database.find(_WRITTEN_AT, scope, key, session_key))[0][0])

    async def changes(
        self, session_key: int, number: int, *, limit: int = -1, longest: int = _WHOLE_TEXT
    ) -> list[Change]:
        """Return the old and new value of every key that the session's event with this number set.

        Returns at most `limit` changes (all if negative), and at most `longest` characters of each
        value.
        """
        rows = await self._database.fetch(_CHANGES, session_key, number, limit, longest)
        return sorted((Change(*row) for row in rows), key=_order)

    async def changed(self, session_key: int, number: int) -> int:
        """Return the number of keys that the session's event with this number set."""
        return int((await self._database.fetch(_CHANGED, session_key, number))[0][0])

    async def shared(self, session_key: int) -> dict[str, Json]:
        """Return the shared state that the session sees, with `user:` and `app:` in the keys.

        A fork has its own, which no other session sees.
        """
        return _merge(_values(await self._database.find(_SHARED, _LATEST, session_key)))

    async def merged(self, session_key: int) -> dict[str, Json]:
        """Return the state as the agent sees it; keys have their prefixes."""
        return _merge(await self.at(session_key))


def state_json(values: Iterable[Value], *, lenient: bool = False) -> str:
    """Return the JSON of what `State.merged` returns, without decoding the values.

    Raises JournalDamaged for a damaged value; if `lenient`, includes it marked as damaged instead.
    """
    return "".join(_members(values, lenient=lenient)) + "}"


def _members(values: Iterable[Value], *, lenient: bool) -> Iterator[str]:
    comma = "{"
    for entry in values:
        try:
            value = parse_json(entry.value)
            text = json.dumps(value) if isinstance(entry.value, Damaged) else entry.value
        except JournalDamaged:
            if not lenient:
                raise
            text = json.dumps(parse_json(Damaged(entry.value)))
        yield f"{comma}{json.dumps(prefixed(entry.scope, entry.key))}:{text}"
        comma = ","
    if comma == "{":
        yield comma


def _values(rows: Sequence[tuple[Any, ...]]) -> list[Value]:
    return sorted((_value(*row) for row in rows), key=_order)


def _value(scope: Scope, key: str, value: str, seq: int, number: int | None, initial: int) -> Value:
    return Value(scope, key, value, seq, number, bool(initial))


def _merge(values: list[Value]) -> dict[str, Json]:
    return {prefixed(entry.scope, entry.key): parse_json(entry.value) for entry in values}


def _order(entry: Value | Change) -> tuple[int, str]:
    return _RANK[entry.scope], entry.key


def prefixed(scope: Scope, key: str) -> str:
    return key if scope == "session" else f"{scope}:{key}"


def scoped(key: str) -> tuple[Scope, str]:
    """Split a key as agents write it into its scope and the key without prefix."""
    for prefix, scope in _PREFIXES.items():
        if key.startswith(prefix):
            return scope, key.removeprefix(prefix)
    return "session", key


def route_delta(delta: Mapping[str, Json]) -> list[Routed]:
    """Split the keys of a delta by scope.

    Raises BadValue for `temp:` keys, which are never committed.
    """
    for key in delta:
        if key.startswith(_TEMPORARY):
            raise BadValue(
                f"the state key {key!r} is temporary and cannot be stored; "
                "strip `temp:` keys before the commit"
            )
    return [_route(key, value) for key, value in delta.items()]


def route_initial(state: Mapping[str, Json]) -> list[Routed]:
    """Split the keys of an initial state by scope; drops `temp:` keys, as ADK does."""
    return [_route(key, value) for key, value in state.items() if not key.startswith(_TEMPORARY)]


def require_written(
    connection: sqlite3.Connection, session_key: int, routed: Iterable[Routed], seq: int
) -> None:
    """Raise StaleSession if any of the keys was last written at another seq."""
    for scope, key, _ in routed:
        [(last,)] = connection.execute(_WRITTEN_AT, (scope, key, session_key))
        if last != seq:
            raise StaleSession(
                f"the state key {prefixed(scope, key)!r} has changed since you opened it; "
                "look at its value and edit it again"
            )


def write_state(
    connection: sqlite3.Connection, seq: int, scopes: Scopes, routed: list[Routed]
) -> None:
    """Record the writes under the seq; for use in the job that obtained the seq."""
    ids: dict[Scope, int] = {"session": scopes.session, "user": scopes.user, "app": scopes.app}
    connection.executemany(_WRITE, [(seq, ids[scope], key, value) for scope, key, value in routed])


def _route(key: str, value: Json) -> Routed:
    clean_text(key, f"the state key {key!r}")
    text = json_text(value, f"the state value of {key!r}")
    return *scoped(key), text
