"""Checks a journal for damage and inconsistencies (R36, R43).

Everything is read in one transaction on a read-only connection, so nothing is changed, and a server
can keep running meanwhile.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from devui.store.errors import BadValue, JournalDamaged, StoreError, from_sqlite
from devui.store.sqlite.schema import examine, load_migrations, read_only
from devui.store.state import Scopes, route_delta
from devui.store.summaries import Damaged
from devui.store.values import legible, measure, parse_json

Deltas = Callable[[str], Mapping[str, Any]]
"""Returns the state delta in an event's JSON; raises ValueError, TypeError, KeyError or
AttributeError if it isn't valid."""

_MOST: Final = 20
"""The maximum number of faults of one kind that are listed."""

_INTEGRITY = "PRAGMA integrity_check(20)"
_REFERENCES = "PRAGMA foreign_key_check"
_VERSION = "PRAGMA user_version"
_COUNTS = "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM events), seq FROM journal"
_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
_ACTIVE = "SELECT id FROM runs WHERE status IN ('running', 'stopping') ORDER BY seq"

_FAULTS: Final[tuple[tuple[str, str], ...]] = (
    (
        """
        SELECT session, count(*), max(number) FROM events
        GROUP BY session HAVING min(number) <> 1 OR max(number) <> count(*)
        """,
        "session {} has {} events, and the last one is #{}: numbers are missing",
    ),
    (
        """
        SELECT later.session, later.number FROM events AS later
        JOIN events AS earlier
          ON earlier.session = later.session AND earlier.number = later.number - 1
        WHERE earlier.seq >= later.seq
        """,
        "event #{1} of session {0} was committed before the one it follows",
    ),
    (
        """
        SELECT key, events, (SELECT count(*) FROM events WHERE session = key) AS found
        FROM sessions WHERE events <> found
        """,
        "the head of session {} counts {} events, and there are {}",
    ),
    (
        """
        SELECT key, seq, (SELECT max(seq) FROM events WHERE session = key) AS newest
        FROM sessions WHERE seq < newest
        """,
        "the head of session {} is at {}, behind its newest event at {}",
    ),
    (
        """
        SELECT journal.seq, max(found.seq) AS newest FROM journal, (
            SELECT max(seq) AS seq FROM events UNION ALL SELECT max(seq) FROM writes
            UNION ALL SELECT max(seq) FROM sessions UNION ALL SELECT max(seq) FROM runs
        ) AS found GROUP BY journal.one HAVING newest > journal.seq
        """,
        "the journal's counter stands at {}, and {} was given already",
    ),
    (
        """
        SELECT session, kind, kinds.events, coalesce(counts.events, 0) AS found
        FROM kinds LEFT JOIN (
            SELECT session, kind, count(*) AS events FROM events GROUP BY session, kind
        ) AS counts USING (session, kind) WHERE kinds.events <> found
        """,
        "session {0} counts {2} events of kind {1}, and there are {3}",
    ),
    (
        """
        SELECT sessions.key, writes.key FROM writes
        JOIN sessions ON sessions.own_scope = writes.scope
        WHERE writes.seq <> sessions.born AND NOT EXISTS (
            SELECT 1 FROM events WHERE events.seq = writes.seq AND events.session = sessions.key
        )
        """,
        "the state key {1!r} of session {0} was written by no event of it",
    ),
    (
        """
        SELECT key FROM sessions WHERE NOT EXISTS (
            SELECT 1 FROM scopes WHERE id = user_scope AND kind = 'user'
        ) OR NOT EXISTS (SELECT 1 FROM scopes WHERE id = app_scope AND kind = 'app')
        """,
        "the shared state of session {} is nowhere",
    ),
    (
        """
        SELECT id FROM scopes WHERE kind = 'session'
          AND NOT EXISTS (SELECT 1 FROM sessions WHERE own_scope = scopes.id)
        """,
        "state scope {} belongs to no session",
    ),
    (
        """
        SELECT id FROM contents
        WHERE NOT EXISTS (SELECT 1 FROM artifacts WHERE content = contents.id)
        """,
        "the content {} belongs to no artifact",
    ),
    (
        """
        SELECT run, count(*) FROM spans
        WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = spans.run) AND NOT EXISTS (
            -- an imported fork brings those of the events that it has of its parent
            SELECT 1 FROM forks JOIN events USING (session)
            WHERE session = spans.session AND events.run = spans.run
                  AND events.number <= forks.number
                  AND coalesce(spans.event <= forks.number, TRUE)
        ) GROUP BY run
        """,
        "{1} spans belong to run {0}, which is not there",
    ),
)
"""Queries that must return no rows, with the message for each row that they do return."""

_DELTAS = """
    SELECT events.seq, events.session, events.number, events.data, events.checksum,
           sessions.own_scope, sessions.user_scope, sessions.app_scope
    FROM events JOIN sessions ON sessions.key = events.session ORDER BY events.seq
"""
_WRITTEN = "SELECT scope, key, value FROM writes WHERE seq = ?"


@dataclass(slots=True)
class Checkup:
    """The result of a check; the journal is sound if there are no faults."""

    version: int = 0
    """The version of the schema."""
    outdated: bool = False
    """Whether the next server will migrate it; only SQLite's integrity check was run then."""
    sessions: int = 0
    events: int = 0
    active: list[str] = field(default_factory=list)
    """The ids of the runs that haven't ended."""
    faults: list[str] = field(default_factory=list)
    """One sentence for each fault."""
    damaged: bool = False
    """Whether the file itself is damaged; a server will set it aside and start a new one."""


def check_journal(path: Path, delta_of: Deltas) -> Checkup:
    """Check the journal at `path`.

    Raises JournalForeign, JournalNewer, or another StoreError if the file can't be read; reports
    any other problem as a fault.
    """
    newest = load_migrations()[-1].version
    checkup = Checkup()
    try:
        examine(path, newest)
        with closing(read_only(path)) as connection:
            _look(connection, checkup, newest, delta_of)
    except JournalDamaged as error:
        checkup.faults.append(" ".join(str(error).split()))
        checkup.damaged = True
    except sqlite3.Error as error:
        raise from_sqlite(error, str(path)) from error
    return checkup


def _look(connection: sqlite3.Connection, checkup: Checkup, newest: int, delta_of: Deltas) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("BEGIN")
    [(checkup.version,)] = connection.execute(_VERSION)
    checkup.outdated = checkup.version < newest
    checkup.faults += [
        f"SQLite: {row[0]}" for row in connection.execute(_INTEGRITY) if row != ("ok",)
    ]
    if checkup.faults or checkup.outdated:  # the rest needs an intact file with the current tables
        return
    [(checkup.sessions, checkup.events, _)] = connection.execute(_COUNTS)
    connection.text_factory = legible
    checkup.faults += _excerpt(_damaged_texts(connection))
    checkup.active = [str(row[0]) for row in connection.execute(_ACTIVE)]
    checkup.faults += _excerpt(
        f"row {row} of {table} refers to a row of {parent} that is not there"
        for table, row, parent, _ in connection.execute(_REFERENCES)
    )
    for query, sentence in _FAULTS:
        checkup.faults += _excerpt(sentence.format(*row) for row in connection.execute(query))
    checkup.faults += _excerpt(_unlike(connection, delta_of))


def _damaged_texts(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield a fault for each text that isn't valid UTF-8, which SQLite doesn't check."""
    for (table,) in connection.execute(_TABLES).fetchall():
        rows = connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - names of our schema
        names = [column[0] for column in rows.description]
        for row in rows:
            columns = dict(zip(names, row, strict=True))
            damaged = [name for name, value in columns.items() if isinstance(value, Damaged)]
            yield from (f"{_place(table, columns)}: {name!r} is no UTF-8 text" for name in damaged)


def _place(table: str, row: Mapping[str, Any]) -> str:
    if table == "events":
        return f"event #{row['number']} of session {row['session']}"
    if table == "sessions":
        return f"session {row['key']}"
    first, second = [f"{name} {value!r}" for name, value in row.items()][:2]
    return f"the row of {table} with {first} and {second}"


def _excerpt(faults: Iterator[str]) -> list[str]:
    """Return the first few faults, and a line with the number of others."""
    lines = list(faults)
    more = len(lines) - _MOST
    return lines[:_MOST] + ([f"… and {more} more like this"] if more > 0 else [])


def _unlike(connection: sqlite3.Connection, delta_of: Deltas) -> Iterator[str]:
    """Yield a fault for each event that was altered, or whose delta differs from its state writes.

    The state as of any moment is computed from the writes up to then. If each event's writes equal
    its delta, that state is the fold of the deltas at every moment.
    """
    for seq, session, number, data, checksum, *scopes in connection.execute(_DELTAS):
        place = f"event #{number} of session {session}"
        if checksum is not None and checksum != measure(data)[1]:
            yield f"{place} is not what was written: its checksum differs"
            continue
        try:
            delta = _by_scope(delta_of(data), Scopes(*scopes))
            rows = connection.execute(_WRITTEN, (seq,))
            writes = {(scope, key): parse_json(value) for scope, key, value in rows}
        except (ValueError, TypeError, KeyError, AttributeError, StoreError) as error:
            yield f"{place} cannot be read: {error}"
            continue
        if delta != writes:
            keys = {key for _, key in delta.keys() ^ writes.keys()}
            keys |= {k for s, k in delta.keys() & writes.keys() if delta[s, k] != writes[s, k]}
            yield f"{place} says something else than what it wrote to {', '.join(sorted(keys))}"


def _by_scope(delta: Mapping[str, Any], scopes: Scopes) -> dict[tuple[int, str], Any]:
    ids = {"session": scopes.session, "user": scopes.user, "app": scopes.app}
    try:
        return {(ids[scope], key): parse_json(value) for scope, key, value in route_delta(delta)}
    except BadValue as error:
        raise ValueError(str(error)) from error
