"""Runs: executions of an agent, from start to one of four final statuses, with their output.

A session has at most one active run, and while it has one, only that run may append events (R38).
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from devui.store.errors import (
    RunActive,
    RunExists,
    RunNotFound,
    RunTransition,
    StaleSession,
    StoreError,
)
from devui.store.rows import OutputLine, RunRow, RunStatus
from devui.store.runs.queued_messages import take
from devui.store.sessions import require_session, require_writable, set_first_title
from devui.store.sqlite.database import Database, DeferredWrite, advance
from devui.store.values import clean_text, optional_text, printable
from devui.wire.events import USER

# An agent's code may give each partial event its own id; a later event by the same author then
# contains all of them. Only the newest rows are searched, so that long histories cost nothing.
_STRAY = """
    WITH later AS (
        SELECT author, branch, max(timestamp) AS at
        FROM (SELECT * FROM events WHERE session = ?1 ORDER BY seq DESC LIMIT 200)
        WHERE run = ?2 GROUP BY author, branch
    )
    SELECT data FROM chunks LEFT JOIN later
        ON author = json_extract(data, '$.author') AND branch IS json_extract(data, '$.branch')
    WHERE position > (SELECT max(position) - 5000 FROM chunks) AND +session = ?1 AND run = ?2
        AND NOT EXISTS (SELECT 1 FROM events WHERE session = ?1 AND id = chunks.event)
        AND coalesce(at < json_extract(data, '$.timestamp'), TRUE)
    ORDER BY position
"""
# Runs of a session never overlap: all events after the previous run's end are this run's.
_LAST_EVENT = """
    WITH mine AS (
        SELECT seq, timestamp, held FROM events
        WHERE session = ?1 AND run = ?2 AND seq > (
            SELECT coalesce(max(seq), 0) FROM runs WHERE session = ?1 AND ended IS NOT NULL
        )
    )
    SELECT timestamp, (SELECT sum(held) FROM mine) FROM mine ORDER BY seq DESC LIMIT 1
"""
_LAST_HOLD = """
    SELECT json_extract(value, '$.since') AS since, json_extract(value, '$.paused')
    FROM positions, json_each(data)
    WHERE run = ? AND type = 'object' AND since IS NOT NULL
    ORDER BY since DESC LIMIT 1
"""
_LAST_PRINTED = "SELECT at FROM output WHERE run = ? ORDER BY number DESC LIMIT 1"


def stray(connection: sqlite3.Connection, session: int, run: str) -> list[str]:
    """Return the run's partial events that never became an event, as JSON texts in order."""
    return [data for (data,) in connection.execute(_STRAY, (session, run))]


def last_sign(
    connection: sqlite3.Connection, run: RunRow, texts: Sequence[str], now: float
) -> tuple[float, float]:
    """Return when the run gave its last sign of life, in seconds since the epoch, and how long it
    had been held by then, in seconds.

    `texts` are the run's partial events that never became an event, as JSON texts in order.
    """
    started = run.started
    moment, pause = started, 0.0
    for at, paused in connection.execute(_LAST_EVENT, (run.session, run.id)):
        moment, pause = at, paused
    for since, paused in connection.execute(_LAST_HOLD, (run.id,)):
        if since >= moment:  # positions in old journals have no `paused`
            moment, pause = since, pause if paused is None else paused
    later = [at for (at,) in connection.execute(_LAST_PRINTED, (run.id,))]
    times = [json.loads(text).get("timestamp") for text in texts[-1:]]
    later += [at for at in times if isinstance(at, int | float)]  # bad data mustn't stop a server
    end = min(max(started, moment, *later), now)
    end = max(end, started)
    return end, min(max(pause, 0.0), end - started)


ACTIVE: frozenset[RunStatus] = frozenset({"running", "stopping"})

_ENDS: frozenset[RunStatus] = frozenset({"done", "failed", "stopped", "interrupted"})

TRANSITIONS: Mapping[RunStatus, frozenset[RunStatus]] = {
    # "running" to "running" is how a run reports its invocation id.
    "running": _ENDS | {"running", "stopping"},
    "stopping": _ENDS,
    "done": frozenset(),
    "failed": frozenset(),
    "stopped": frozenset(),
    "interrupted": frozenset(),
}
"""The statuses that may follow each status."""

_GET = "SELECT * FROM run_rows WHERE id = ?"
_ACTIVE = "SELECT * FROM run_rows WHERE session = ? AND status IN ('running', 'stopping')"
_ALL_ACTIVE = "SELECT id, session FROM runs WHERE status IN ('running', 'stopping') ORDER BY seq"
_LIST = "SELECT * FROM run_rows WHERE session = ? ORDER BY seq DESC"
_NEWEST = "SELECT * FROM run_rows WHERE session = ? ORDER BY seq DESC LIMIT 1"
_SAID_SINCE = """
    SELECT number FROM events WHERE session = ? AND seq > ? AND author = ? ORDER BY seq LIMIT 1
"""
_SINCE = "SELECT * FROM run_rows WHERE session = ? AND seq > ? AND seq < ? ORDER BY seq"
_CUT_OFF = """
    SELECT * FROM run_rows
    WHERE session = ? AND seq > ? AND seq < ? AND status IN ('failed', 'stopped', 'interrupted')
    ORDER BY seq DESC LIMIT ?
"""
_INSERT = """
    INSERT INTO runs (id, session, invocation_id, status, started, seq, message, actor)
    VALUES (?, ?, ?, 'running', ?, ?, ?, ?)
"""
_INSERT_ORDER = "INSERT INTO starts (run, data) VALUES (?, ?)"
_CHANGE = """
    UPDATE runs SET status = ?, error = coalesce(?, error), started = coalesce(?, started),
                    ended = ?, seq = ?,
                    invocation_id = coalesce(?, invocation_id),
                    unfinished = coalesce(?, unfinished), held = max(held, ?),
                    stopped_by = coalesce(?, stopped_by)
    WHERE id = ?
"""
_HANDED_ON = "UPDATE runs SET message = NULL WHERE id = ?"
_CLOSE = "UPDATE runs SET closed = 1 WHERE id = ?"

_KEEP_POSITION = """
    INSERT INTO positions (run, data) VALUES (?, ?)
    ON CONFLICT (run) DO UPDATE SET data = excluded.data
"""
_FORGET_POSITION = "DELETE FROM positions WHERE run = ?"
_POSITION = "SELECT data FROM positions WHERE run = ?"

_LAST_OUTPUT = "SELECT coalesce(max(number), 0) FROM output WHERE run = ?"
_ADD_OUTPUT = "INSERT INTO output (run, number, stream, text, at) VALUES (?, ?, ?, ?, ?)"
_OUTPUT = """
    SELECT number, stream, text, at FROM output WHERE run = ? AND number > ? ORDER BY number LIMIT ?
"""
_LAST_LINES = """
    SELECT number, stream, text, at FROM output WHERE run = ? ORDER BY number DESC LIMIT ?
"""
_END = 2**63 - 1
_NO_LIMIT = -1


_Change = tuple[RunStatus, str | None, str | None, str | None, float, float | None, str | None]
"""Status, error, invocation id, unfinished answers, seconds held, start, who stopped it; None keeps
the old value."""


class Runs:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def start(
        self,
        run_id: str,
        session_key: int,
        invocation_id: str | None = None,
        message: str | None = None,
        *,
        last_seen: int | None = None,
        request: str | None = None,
        follows: str | None = None,
        queued: int | None = None,
        actor: str | None = None,
        title: str | None = None,
    ) -> RunRow:
        """Record a new run with the status `running`.

        - `message` is the user's message as JSON text, kept until a user's event is committed in
          the run.
        - `last_seen` makes it raise StaleSession if the user has said anything after that seq.
        - `request` is everything the run was asked to do, as JSON text; kept permanently.
        - `follows` is a run that becomes `done` in the same transaction and hands over its message,
          so that the message is never without a run.
        - `queued` is the number of a message that leaves the session's queue in the same
          transaction; raises NotQueued if it has left already.
        - `title` is set if the session has none.

        Raises RunActive while the session has an active run, RunTransition if the followed run has
        already ended, RunExists if the id is taken, SessionNotFound, ReadOnly for an imported
        session, BadValue.
        """
        clean_text(run_id, "the run's id")
        optional_text(invocation_id, "the invocation id")
        optional_text(message, "the user's message")
        optional_text(request, "what the run was asked")
        optional_text(actor, "the actor")
        optional_text(title, "the title")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> RunRow:
            require_session(connection, session_key)
            require_writable(connection, session_key)
            if follows is not None:
                _change(connection, follows, ("done", None, None, None, 0.0, None, None), now)
                connection.execute(_HANDED_ON, (follows,))
            _check_free(connection, run_id, session_key)
            if last_seen is not None:
                _check_silence(connection, session_key, last_seen)
            if queued is not None:
                take(connection, session_key, queued)
            values = (run_id, session_key, invocation_id, now, advance(connection), message)
            connection.execute(_INSERT, (*values, actor))
            if request is not None:
                connection.execute(_INSERT_ORDER, (run_id, request))
            if title is not None:
                set_first_title(connection, session_key, title)
            return _require(connection, run_id)

        size = len(message or "") + len(request or "")
        return await self._database.write(work, size=size)

    async def change(
        self,
        run_id: str,
        status: RunStatus,
        *,
        error: str | None = None,
        invocation_id: str | None = None,
        unfinished: str | None = None,
        paused: float = 0.0,
        started: float | None = None,
    ) -> RunRow:
        """Change the run's status, as TRANSITIONS allows.

        `error` and `unfinished` are JSON text. `paused` is how long the debugger has held the run,
        in seconds. `started` is when it actually began, if it had to wait for its app. None leaves
        a value unchanged. Raises RunNotFound, RunTransition, BadValue.
        """
        optional_text(error, "the run's error")
        optional_text(invocation_id, "the invocation id")
        optional_text(unfinished, "the unfinished answers")
        change = (status, error, invocation_id, unfinished, paused, started, None)
        now = self._clock()

        def work(connection: sqlite3.Connection) -> RunRow:
            return _change(connection, run_id, change, now)

        return await self._database.write(work)

    def defer_end(
        self,
        run: RunRow,
        status: RunStatus,
        *,
        error: str | None = None,
        unfinished: str | None = None,
        paused: float = 0.0,
        stopped_by: str | None = None,
    ) -> RunRow:
        """End the run as `change` does, even if the journal refuses changes, and return its row.

        The end is written with the next change that the journal accepts; `end` waits for that. If
        `end` fails, `get`, `newest` and `active` still report the run as ended.
        """
        now = self._clock()
        change = (status, error, run.invocation_id, unfinished, paused, run.started, stopped_by)

        def work(connection: sqlite3.Connection) -> RunRow:
            row = _require(connection, run.id)
            return row if row.ended is not None else _change(connection, run.id, change, now)

        over = replace(
            run,
            status=status,
            error=error or run.error,
            unfinished=unfinished,
            ended=now,
            stopped_by=stopped_by,
            pending=True,
        )
        self._database.deferred_writes[run.id] = DeferredWrite(work, over)
        return over

    async def end(self, run_id: str) -> RunRow:
        """Write the end recorded by `defer_end`, unless it has been written, and return the run.

        Raises StoreError; unless it is RunNotFound, the end will be tried again.
        """
        deferred = self._database.deferred_writes.get(run_id)

        def read(connection: sqlite3.Connection) -> RunRow:
            return _require(connection, run_id)

        try:
            work = deferred.work if deferred else read
            size = len(deferred.outcome.unfinished or "") if deferred else 0
            return await self._database.write(work, size=size)
        except (StoreError, MemoryError):
            if (deferred := self._database.deferred_writes.get(run_id)) is not None:
                self._database.deferred_writes[run_id] = deferred._replace(refused=True)
            raise

    async def close(self, run_id: str) -> RunRow:
        """Dismiss the question about the run's end, without changing its status.

        Raises RunNotFound, and RunActive if the run hasn't ended.
        """

        def work(connection: sqlite3.Connection) -> RunRow:
            row = _require(connection, run_id)
            if row.ended is None:
                raise RunActive(f"the run {run_id!r} is {row.status}: it has not ended yet")
            connection.execute(_CLOSE, (run_id,))
            return _require(connection, run_id)

        return await self._database.write(work)

    async def get(self, run_id: str) -> RunRow | None:
        return self._now(await self._database.find(_GET, run_id))

    async def active(self, session_key: int) -> RunRow | None:
        """Return the session's active run, if any."""
        row = self._now(await self._database.find(_ACTIVE, session_key))
        return row if row is not None and row.ended is None else None

    async def newest(self, session_key: int) -> RunRow | None:
        """Return the session's most recently changed run, if any."""
        return self._now(await self._database.find(_NEWEST, session_key))

    def _now(self, rows: list[tuple[Any, ...]]) -> RunRow | None:
        """Return the run in the rows, with its refused end if the journal doesn't have it yet."""
        row = _one(rows)
        deferred = (
            self._database.deferred_writes.get(row.id)
            if row is not None and row.ended is None
            else None
        )
        return deferred.outcome if deferred and deferred.refused else row

    async def since(self, session_key: int, seq: int, *, until: int | None = None) -> list[RunRow]:
        """Return the session's runs whose last change is after the seq, and before the seq `until`
        if given, in the order of those changes."""
        end = _END if until is None else until
        rows = await self._database.find(_SINCE, session_key, seq, end)
        return [RunRow(*row) for row in rows]

    async def cut_off(self, session_key: int, seq: int, *, until: int, limit: int) -> list[RunRow]:
        """Return the last `limit` runs of the session that failed, were stopped or interrupted
        between the seqs `seq` and `until`, in the order in which they ended."""
        rows = await self._database.fetch(_CUT_OFF, session_key, seq, until, limit)
        return [RunRow(*row) for row in reversed(rows)]

    async def under_way(self) -> list[str]:
        """Return the ids of all active runs, in any session."""
        return [run for run, _ in await self._database.fetch(_ALL_ACTIVE)]

    async def interrupt_active(
        self,
        unfinished: Callable[[Iterable[str]], str | None] = lambda _: None,
        *,
        only: Collection[str] | None = None,
    ) -> list[RunRow]:
        """Mark all active runs, or only those in `only`, as interrupted (R55).

        A run counts as ended at its last sign of life, so that the time since isn't working time.
        `unfinished` receives the run's partial events that never became an event, as JSON texts in
        order, and returns what to store of them.
        """
        now = self._clock()

        def work(connection: sqlite3.Connection) -> list[RunRow]:
            rows = []
            for run, session in connection.execute(_ALL_ACTIVE).fetchall():
                if only is not None and run not in only:
                    continue
                texts = stray(connection, session, run)
                end, pause = last_sign(connection, _require(connection, run), texts, now)
                change: _Change = ("interrupted", None, None, unfinished(texts), pause, None, None)
                rows.append(_change(connection, run, change, end))
            return rows

        return await self._database.write(work)

    async def keep_position(self, run_id: str, data: str) -> None:
        """Store where the run is held, as JSON text. Raises RunNotFound, BadValue."""
        clean_text(data, "the run's position")

        def work(connection: sqlite3.Connection) -> None:
            _require(connection, run_id)
            connection.execute(_KEEP_POSITION, (run_id, data))

        await self._database.write(work)

    async def forget_position(self, run_id: str) -> None:
        """Delete where the run is held, if stored."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(_FORGET_POSITION, (run_id,))

        await self._database.write(work)

    async def position(self, run_id: str) -> str | None:
        """Return where the run is held, or was when the server ended, as JSON text."""
        rows = await self._database.find(_POSITION, run_id)
        return str(rows[0][0]) if rows else None

    async def add_output(self, run_id: str, lines: Sequence[OutputLine]) -> None:
        """Append lines to the run's output, with NULs and lone surrogates escaped.

        Raises RunNotFound.
        """

        def work(connection: sqlite3.Connection) -> None:
            _require(connection, run_id)
            [(last,)] = connection.execute(_LAST_OUTPUT, (run_id,))
            rows = [
                (run_id, number, printable(line.stream), printable(line.text), line.at)
                for number, line in enumerate(lines, last + 1)
            ]
            connection.executemany(_ADD_OUTPUT, rows)

        await self._database.write(work)

    async def output(
        self, run_id: str, after: int = 0, limit: int | None = None
    ) -> list[tuple[int, OutputLine]]:
        """Return the run's first `limit` lines of output after number `after`, with their numbers,
        from 1."""
        count = _NO_LIMIT if limit is None else max(limit, 0)
        rows = await self._database.fetch(_OUTPUT, run_id, after, count)
        return [(number, OutputLine(*line)) for number, *line in rows]

    async def last_output(self, run_id: str, limit: int) -> list[tuple[int, OutputLine]]:
        """Return the run's last `limit` lines of output with their numbers, in ascending order."""
        rows = await self._database.fetch(_LAST_LINES, run_id, max(limit, 0))
        return [(number, OutputLine(*line)) for number, *line in reversed(rows)]

    # Last in the class: below it, `list` names this method in annotations.
    async def list(self, session_key: int) -> list[RunRow]:
        """Return the session's runs, most recently changed first."""
        return [RunRow(*row) for row in await self._database.fetch(_LIST, session_key)]


def _check_free(connection: sqlite3.Connection, run_id: str, session_key: int) -> None:
    if connection.execute(_GET, (run_id,)).fetchall():
        raise RunExists(f"a run {run_id!r} is already recorded; a new run needs a new id")
    active = _one(connection.execute(_ACTIVE, (session_key,)).fetchall())
    if active is not None:
        raise RunActive(
            f"session {session_key!r} has the run {active.id!r}, which is {active.status}; "
            "stop it or wait for its end"
        )


def _check_silence(connection: sqlite3.Connection, session_key: int, last_seen: int) -> None:
    for (number,) in connection.execute(_SAID_SINCE, (session_key, last_seen, USER)):
        raise StaleSession(f"the user has said #{number} in session {session_key!r} meanwhile")


def _change(
    connection: sqlite3.Connection,
    run_id: str,
    change: _Change,
    now: float,
) -> RunRow:
    status, error, invocation_id, unfinished, pause, started, stopped_by = change
    present = _require(connection, run_id).status
    if status not in TRANSITIONS[present]:
        raise RunTransition(f"the run {run_id!r} is {present} and cannot become {status!r}")
    ended = None if status in ACTIVE else now
    seq = advance(connection)
    values = (status, error, started, ended, seq, invocation_id, unfinished, pause, stopped_by)
    connection.execute(_CHANGE, (*values, run_id))
    return _require(connection, run_id)


def _require(connection: sqlite3.Connection, run_id: str) -> RunRow:
    row = _one(connection.execute(_GET, (run_id,)).fetchall())
    if row is None:
        raise RunNotFound(f"no run has the id {run_id!r}; its session may have been deleted")
    return row


def _one(rows: list[tuple[Any, ...]]) -> RunRow | None:
    return RunRow(*rows[0]) if rows else None
