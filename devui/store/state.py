"""State by scope, as of any moment.

Every write of a key is kept under the seq of its event (or of the session's creation). The value as
of a seq is the latest write not after it, found by index, so the cost depends on the number of keys
and not on the length of the session. Keys without a prefix belong to the session, `user:` keys to
all sessions of the user, `app:` keys to all of the application, `temp:` keys to nobody: they are
never kept (adk-runtime 1.4).
"""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from devui.store.database import Database
from devui.store.errors import BadValue
from devui.store.rows import Change, Json, Scope, Value
from devui.store.values import clean_text, json_object, json_text

_LATEST = 2**63 - 1

_PREFIXES: dict[str, Scope] = {"user:": "user", "app:": "app"}
_TEMPORARY = "temp:"

Routed = tuple[Scope, str, str]
"""Scope, key without its prefix, value as JSON text."""


class Scopes(NamedTuple):
    """The ids of the three scopes that a session writes to."""

    session: int
    user: int
    app: int


# One step of the recursion per key: the next larger key of the scope, found by index.
_KEYS = """
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
"""

_AT = f"""
    WITH RECURSIVE mine (scope, kind) AS (
        SELECT own_scope, 'session' FROM sessions WHERE key = ?1
        UNION ALL SELECT user_scope, 'user' FROM sessions WHERE key = ?1
        UNION ALL SELECT app_scope, 'app' FROM sessions WHERE key = ?1
    ), {_KEYS}
    SELECT keys.kind, keys.key, writes.value, writes.seq, events.number
    FROM keys
    JOIN writes ON writes.scope = keys.scope AND writes.key = keys.key AND writes.seq = (
        SELECT max(earlier.seq) FROM writes AS earlier
        WHERE earlier.scope = keys.scope AND earlier.key = keys.key AND earlier.seq <= ?2
    )
    LEFT JOIN events ON events.seq = writes.seq AND events.session = ?1
    WHERE keys.key IS NOT NULL
"""  # noqa: S608 - joins two constants

_SHARED = f"""
    WITH RECURSIVE mine (scope, kind) AS (
        SELECT id, kind FROM scopes WHERE kind = 'user' AND app = ?1 AND user = ?2
        UNION ALL SELECT id, kind FROM scopes WHERE kind = 'app' AND app = ?1
    ), {_KEYS}
    SELECT keys.kind || ':' || keys.key, writes.value
    FROM keys
    JOIN writes ON writes.scope = keys.scope AND writes.key = keys.key AND writes.seq = (
        SELECT max(latest.seq) FROM writes AS latest
        WHERE latest.scope = keys.scope AND latest.key = keys.key
    )
    WHERE keys.key IS NOT NULL
"""  # noqa: S608 - joins two constants

_CHANGES = """
    SELECT scopes.kind, writes.key, (
        SELECT earlier.value FROM writes AS earlier
        WHERE earlier.scope = writes.scope AND earlier.key = writes.key
          AND earlier.seq < writes.seq
        ORDER BY earlier.seq DESC LIMIT 1
    ), writes.value
    FROM events
    JOIN writes ON writes.seq = events.seq
    JOIN scopes ON scopes.id = writes.scope
    WHERE events.session = ? AND events.number = ?
    ORDER BY writes.scope, writes.key
"""

_WRITE = "INSERT INTO writes (seq, scope, key, value) VALUES (?, ?, ?, ?)"


class State:
    """Reads state; it is written with the events and the sessions that change it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def at(self, session_key: int, seq: int | None = None) -> list[Value]:
        """Return every key of all three scopes as of the journal's seq; None: as of now.

        What other sessions wrote to `user:` and `app:` keys counts up to that seq too. Sorted by
        scope (session, user, app) and key; empty for an unknown session.
        """
        limit = _LATEST if seq is None else seq
        values = [Value(*row) for row in await self._database.fetch(_AT, session_key, limit)]
        return sorted(values, key=_order)

    async def changes(self, session_key: int, number: int) -> list[Change]:
        """Return old and new of every key that the session's event with this number set."""
        rows = await self._database.fetch(_CHANGES, session_key, number)
        return sorted((Change(*row) for row in rows), key=_order)

    async def shared(self, app: str, user: str) -> dict[str, Json]:
        """Return the user's and the application's state, keys with `user:` and `app:`."""
        return json_object(dict(await self._database.fetch(_SHARED, app, user)))

    async def merged(self, session_key: int) -> dict[str, Json]:
        """Return the state as the agent sees it: own keys bare, shared ones with prefix."""
        return json_object(
            {prefixed(value.scope, value.key): value.value for value in await self.at(session_key)}
        )


_RANK: dict[Scope, int] = {"session": 0, "user": 1, "app": 2}


def _order(entry: Value | Change) -> tuple[int, str]:
    return _RANK[entry.scope], entry.key


def prefixed(scope: Scope, key: str) -> str:
    return key if scope == "session" else f"{scope}:{key}"


def route_delta(delta: Mapping[str, Json]) -> list[Routed]:
    """Sort a committed delta into scopes; BadValue for `temp:` keys, which are never committed."""
    for key in delta:
        if key.startswith(_TEMPORARY):
            raise BadValue(
                f"the state key {key!r} is temporary and cannot be stored; "
                "strip `temp:` keys before the commit"
            )
    return [_route(key, value) for key, value in delta.items()]


def route_initial(state: Mapping[str, Json]) -> list[Routed]:
    """Sort an initial state into scopes; `temp:` keys are dropped, as ADK does."""
    return [_route(key, value) for key, value in state.items() if not key.startswith(_TEMPORARY)]


def write_state(
    connection: sqlite3.Connection, seq: int, scopes: Scopes, routed: list[Routed]
) -> None:
    """Record the writes under the seq; part of a job that also took the seq."""
    ids: dict[Scope, int] = {"session": scopes.session, "user": scopes.user, "app": scopes.app}
    connection.executemany(_WRITE, [(seq, ids[scope], key, value) for scope, key, value in routed])


def _route(key: str, value: Json) -> Routed:
    clean_text(key, f"the state key {key!r}")
    text = json_text(value, f"the state value of {key!r}")
    for prefix, scope in _PREFIXES.items():
        if key.startswith(prefix):
            return scope, key.removeprefix(prefix), text
    return "session", key, text
