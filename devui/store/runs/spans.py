"""Spans: agent, model and tool calls, with what was sent and returned (decisions/0009).

A model request refers to its pieces, each of which is stored once per session, however many
requests it is part of. The spans of events that a fork copied are not copied; they are found in the
parent, under its key.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any

from devui.store.rows import SpanEnd, SpanRow
from devui.store.runs.requests import (
    NewSpan,
    Requests,
    add_pieces,
    numbers_of,
    request_text,
)
from devui.store.sessions import require_session
from devui.store.sqlite.database import Database, Snapshot
from devui.store.values import bounded, parse_json, printable

# The spans of a fork's copied events are in the sessions that those come from. An agent that was at
# work when its run was cut by the fork has worked until the last copied event.
_LINE = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    ),
    cuts (run, at) AS (
        SELECT run, max(at) FROM (
            SELECT run, timestamp AS at FROM forks JOIN events USING (session)
            WHERE session = ?1 AND events.number <= forks.number
            UNION ALL
            SELECT run, began + seconds FROM line JOIN spans USING (session)
            WHERE until IS NOT NULL AND event <= until
        ) WHERE run IS NOT NULL GROUP BY run
    ),
    every AS (
        SELECT id, session, run, number, parent, type, name, agent, branch, call, event, began,
               iif(is_cut, at - began, seconds) AS seconds, first,
               iif(is_cut, NULL, error) AS error, sent, request, result, effects
        FROM (
            SELECT spans.*, at,
                   type = 'agent' AND until IS NOT NULL
                   AND coalesce(began + seconds > at, TRUE) AS is_cut
            FROM line JOIN spans USING (session) LEFT JOIN cuts USING (run)
            WHERE until IS NULL OR event <= until
                  OR (event IS NULL AND began <= at AND (type = 'agent' OR began + seconds <= at))
        )
    )
"""
_BEGIN = """
    INSERT INTO spans (session, run, number, parent, type, name, agent, branch, call, began, sent,
                       request)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING
"""
_END = """
    UPDATE spans SET seconds = ?, first = ?, error = ?, result = ?, effects = ?
    WHERE run = ? AND number = ?
"""
_LIST = "SELECT * FROM span_rows WHERE session = ? AND id > ? ORDER BY id LIMIT ?"
_OF_RUN = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT * FROM span_rows WHERE run = ?2 AND session IN (SELECT session FROM line)
        AND (?3 IS NULL OR call IN (SELECT value FROM json_each(?3)))
    ORDER BY number
"""
_EVERY = "SELECT * FROM span_rows WHERE session = ? ORDER BY id"
_WITH_COPIED = f"""
    {_LINE}
    SELECT id, session, run, number, parent, type, name, agent, branch, call, event, began, seconds,
           first, error
    FROM every ORDER BY id
"""  # noqa: S608  (of a constant)
_OF_EVENT = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT span_rows.* FROM line JOIN span_rows USING (session)
    WHERE event = ?2 AND (until IS NULL OR event <= until) ORDER BY id
"""
_BEFORE = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT span_rows.* FROM line JOIN span_rows USING (session)
    WHERE id < ?2 AND type = 'model' AND agent = ?3 AND (until IS NULL OR event <= until)
    ORDER BY id DESC LIMIT 1
"""
_MODEL_CALLS = """
    SELECT * FROM span_rows WHERE session = ? AND type = 'model' ORDER BY id DESC LIMIT ?
"""
_SETTINGS = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT event,
           iif(request IS NULL, json_extract(sent, '$.model'),
               coalesce(json_extract(request, '$.model'), spans.name)),
           coalesce(system.name, json_extract(coalesce(request, sent), '$.system')),
           coalesce(tools.name, json_extract(coalesce(request, sent), '$.tools')),
           coalesce(config.name, json_extract(coalesce(request, sent), '$.config'))
    FROM line JOIN spans USING (session)
    LEFT JOIN pieces AS system ON system.id = json_extract(request, '$.system')
    LEFT JOIN pieces AS tools ON tools.id = json_extract(request, '$.tools')
    LEFT JOIN pieces AS config ON config.id = json_extract(request, '$.config')
    WHERE type = 'model' AND coalesce(request, sent) IS NOT NULL AND event IS NOT NULL
          AND (until IS NULL OR event <= until)
    ORDER BY spans.id
"""
_GET = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT span_rows.* FROM line JOIN span_rows USING (session)
    WHERE id = ?2 AND (until IS NULL OR event <= until)
"""
_BODIES = "SELECT sent, request, result, effects FROM spans WHERE id = ?"
_EFFECTS = """
    WITH RECURSIVE line (session, until) AS (
        SELECT ?1, NULL UNION ALL
        SELECT parent, min(number, coalesce(until, number)) FROM forks JOIN line USING (session)
    )
    SELECT call, effects FROM line JOIN spans USING (session)
    WHERE type = 'tool' AND effects IS NOT NULL AND (until IS NULL OR event <= until)
        AND call IN (SELECT value FROM json_each(?2)) ORDER BY id
"""
_PIECES = """
    SELECT name, data FROM pieces
    WHERE session = ? AND name IN (SELECT value FROM json_each(?))
"""

_SPAN_SIZE = 500
"""The approximate size of a span's start or end without its payloads, in bytes."""
_SESSIONS = 16
"""The number of sessions whose piece numbers are cached."""


class Spans:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._numbers: OrderedDict[int, dict[str, int]] = OrderedDict()
        """The numbers of stored pieces, by session and name; each request names all of them again.
        """

    async def add(
        self,
        session_key: int,
        begins: Sequence[NewSpan],
        ends: Sequence[SpanEnd],
        pieces: Mapping[str, str],
    ) -> None:
        """Record the pieces that aren't known yet, spans that began, and then ends of spans.

        Idempotent; an end replaces an earlier one. Raises SessionNotFound.
        """

        numbers = self._numbers_of(session_key)
        prompts = [span.prompt for span in begins if span.prompt]

        def work(connection: sqlite3.Connection) -> dict[str, int]:
            key = require_session(connection, session_key).key
            new = add_pieces(connection, key, pieces)
            if prompts:
                new |= numbers_of(connection, key, prompts, numbers | new)
            every = numbers | new
            rows = [(key, *_begin(span), request_text(span, every)) for span in begins]
            connection.executemany(_BEGIN, rows)
            connection.executemany(_END, [_end(span) for span in ends])
            return new

        texts = [*pieces.values(), *(end.result or "" for end in ends)]
        size = sum(map(len, texts)) + _SPAN_SIZE * (len(begins) + len(ends))
        numbers.update(await self._database.write(work, size=size))

    def _numbers_of(self, session_key: int) -> dict[str, int]:
        """Return the cache of a session's piece numbers; add new ones to it after the commit."""
        numbers = self._numbers.setdefault(session_key, {})
        self._numbers.move_to_end(session_key)
        if len(self._numbers) > _SESSIONS:
            self._numbers.popitem(last=False)
        return numbers

    async def of_run(
        self, session_key: int, run: str, *, calls: Iterable[str] | None = None
    ) -> list[SpanRow]:
        """Return the spans of a run, or of only these calls in it, in the order in which they
        began."""
        calls_json = None if calls is None else json.dumps([*calls])
        rows = await self._database.fetch(_OF_RUN, session_key, run, calls_json)
        return [SpanRow(*row) for row in rows]

    async def every(self, session_key: int) -> list[SpanRow]:
        """Return all spans of the session in the order in which they began."""
        return [SpanRow(*row) for row in await self._database.fetch(_EVERY, session_key)]

    async def with_copied(self, session_key: int) -> list[SpanRow]:
        """Return all spans of the session and, in a fork, those up to its last copied event, in the
        order in which they began."""
        return [SpanRow(*row) for row in await self._database.fetch(_WITH_COPIED, session_key)]

    async def of_event(self, session_key: int, number: int) -> list[SpanRow]:
        """Return the spans of the model call or tool calls that produced the event."""
        return [SpanRow(*row) for row in await self._database.fetch(_OF_EVENT, session_key, number)]

    async def effects(self, session_key: int, calls: Iterable[str]) -> dict[str, str]:
        """Return the effects of tool calls other than their results, as JSON texts by call id.

        In a fork, includes those of calls whose results it copied.
        """
        calls_json = json.dumps([*calls])
        return dict(await self._database.fetch(_EFFECTS, session_key, calls_json))

    async def get(self, session_key: int, span_id: int) -> SpanRow | None:
        """Return a span of the session, if it exists."""
        rows = await self._database.fetch(_GET, session_key, span_id)
        return SpanRow(*rows[0]) if rows else None

    async def model_call_before(self, span: SpanRow) -> SpanRow | None:
        """Return the agent's last model call that began before this one, if any."""
        rows = await self._database.fetch(_BEFORE, span.session, span.id, span.agent)
        return SpanRow(*rows[0]) if rows else None

    async def model_calls(self, session_key: int, *, limit: int) -> Sequence[SpanRow]:
        """Return at most `limit` model calls of the session, newest first."""
        rows = await self._database.fetch(_MODEL_CALLS, session_key, max(limit, 0))
        return [SpanRow(*row) for row in rows]

    async def settings(self, session_key: int) -> Mapping[int, Sequence[str | None]]:
        """Return the settings of model calls, by the number of the event that each produced.

        The settings are the model's name, and the names of the pieces with the system instruction,
        tools and config. Equal pieces have the same name in all sessions.
        """
        rows = await self._database.fetch(_SETTINGS, session_key)
        return {event: settings for event, *settings in rows}

    async def bodies(self, span: SpanRow) -> tuple[Any, str | None, str | None]:
        """Return what was sent and, as JSON texts, the result and a tool's other effects.

        A model's request refers to its pieces by name. Raises JournalDamaged.
        """
        rows = await self._database.fetch(_BODIES, span.id)
        if not rows:
            return None, None, None
        [(sent, request, result, effects)] = rows
        requests = Requests(self._database.fetch, span.session)
        return await requests.payload(span.name, sent, request), result, effects

    async def pieces(self, session_key: int, names: Sequence[str]) -> dict[str, str]:
        """Return the JSON texts of the pieces that the session has, by name."""
        return dict(await self._database.fetch(_PIECES, session_key, json.dumps(list(names))))

    # Last in the class: below it, `list` names this method in annotations.
    async def list(self, session_key: int, *, after: int = 0, limit: int) -> list[SpanRow]:
        """Return the first `limit` spans above the id `after`, in the order in which they began."""
        rows = await self._database.fetch(_LIST, session_key, bounded(after), max(limit, 0))
        return [SpanRow(*row) for row in rows]


def _begin(span: NewSpan) -> tuple[object, ...]:
    return (
        span.run,
        bounded(span.number),
        bounded(span.parent),
        span.type,
        printable(span.name),
        printable(span.agent),
        _printable(span.branch),
        _printable(span.call),
        span.began,
        _printable(span.sent),
    )


def _end(span: SpanEnd) -> tuple[object, ...]:
    return (
        span.seconds,
        span.first,
        _printable(span.error),
        _printable(span.result),
        _printable(span.effects),
        span.run,
        bounded(span.number),
    )


def _printable(text: str | None) -> str | None:
    return None if text is None else printable(text)


Record = dict[str, Any]
"""A record of an export: a dict with the key `type`."""

_BATCH = 200

_SPANS = f"""
    {_LINE}
    SELECT * FROM every WHERE id > ?2 ORDER BY id LIMIT ?3
"""  # noqa: S608  (of a constant)
_EXPORTED_PIECES = """
    WITH RECURSIVE line (session) AS (
        SELECT ?1 UNION ALL SELECT parent FROM forks JOIN line USING (session)
    )
    SELECT DISTINCT name, data FROM line JOIN pieces USING (session)
    WHERE name IN (SELECT value FROM json_each(?2))
"""


async def spans(snapshot: Snapshot, session: int) -> AsyncIterator[Record]:
    """Yield the records of all spans, each preceded by the pieces that no earlier span has used."""
    after, seen = 0, set[str]()
    requests: dict[int, Requests] = {}
    while rows := await snapshot.fetch(_SPANS, session, after, _BATCH):
        for row in rows:
            session_requests = requests.setdefault(row[1], Requests(snapshot.fetch, row[1]))
            span = await _span(row, session_requests)
            names = names_in(span["sent"]) if span["kind"] == "model" else ()
            new_names = [name for name in names if name not in seen]
            seen.update(new_names)
            pieces = dict(await snapshot.fetch(_EXPORTED_PIECES, session, json.dumps(new_names)))
            for name in dict.fromkeys(name for name in new_names if name in pieces):
                yield {"type": "piece", "name": name, "data": parse_json(pieces[name])}
            yield span
        after = rows[-1][0]


def names_in(request: object) -> Iterator[str]:
    """Yield the names of the pieces in a model request."""
    members = request if isinstance(request, dict) else {}
    for value in (members.get(member) for member in ("system", "config", "tools", "contents")):
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                yield name


async def _span(row: Sequence[Any], requests: Requests) -> Record:
    names = ("run", "number", "parent", "kind", "name", "agent", "branch", "call", "event")
    times = ("began", "seconds", "first", "error")
    _, _, *columns, sent, request, result, effects = row
    span = dict(zip((*names, *times), columns, strict=True))
    payload = await requests.payload(span["name"], sent, request)
    bodies = {"sent": payload, "result": optional(result)}
    bodies |= {"effects": parse_json(effects)} if effects is not None else {}
    return {"type": "span", **span, **bodies}


def optional(text: str | None) -> Any:
    """Parse a stored JSON text, if there is one."""
    return None if text is None else parse_json(text)
