"""The recordings that replays are made from, and the results of replays (decisions/0012)."""

from devui.store.rows import CallRecord, ReplayRow, SpanRow
from devui.store.runs.requests import Requests
from devui.store.sqlite.database import Database
from devui.store.values import clean_text
from devui.wire.events import Event

_STARTED = "SELECT data FROM starts WHERE run = ?"
_ENGINE = "SELECT engine FROM starts WHERE run = ?"
_SET_ENGINE = "UPDATE starts SET engine = ? WHERE run = ?"
_BEGIN = "INSERT INTO replays (run, source, live_tools) VALUES (?, ?, ?)"
_END = "UPDATE replays SET verdict = ? WHERE run = ?"
_GET = "SELECT run, source, live_tools, verdict FROM replays WHERE run = ?"
_EVENTS = """
    SELECT number, data FROM event_bodies WHERE session = ? AND run = ? ORDER BY number
"""
_EXTENTS = """
    SELECT run, min(number), max(number) FROM events
    WHERE session = ? AND run IS NOT NULL GROUP BY run
"""
_CHUNKS = "SELECT data FROM chunks WHERE session = ? AND run = ? ORDER BY position"
_CALLS = """
    SELECT span_rows.*, sent, request, result, effects FROM span_rows JOIN spans USING (id)
    WHERE span_rows.session = ? AND span_rows.run = ? ORDER BY span_rows.number
"""


# Worded like the partial index of these events, which SQLite wouldn't use otherwise.
_CREDENTIALS = """
    SELECT data FROM events WHERE author = 'user' AND instr(data, '"adk_request_credential"') > 0
    ORDER BY seq DESC LIMIT ?
"""


class Replays:
    """Reads the recordings of runs, and stores replays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def request_of(self, run: str) -> str | None:
        """Return what the run was asked to do, as JSON text; None if it wasn't stored."""
        rows = await self._database.find(_STARTED, run)
        return rows[0][0] if rows else None

    async def engine_of(self, run: str) -> str | None:
        """Return the engine that executed the run, as JSON text; None if it wasn't stored."""
        rows = await self._database.find(_ENGINE, run)
        return rows[0][0] if rows else None

    async def set_engine(self, run: str, engine: str) -> None:
        """Store the engine that executes the run, as JSON text."""
        await self._database.write(
            lambda connection: connection.execute(_SET_ENGINE, (engine, run)), size=len(engine)
        )

    async def begin(self, run: str, source: str, *, live: bool) -> None:
        """Record that the run is a replay of the run `source`; if `live`, it really calls tools."""
        values = (run, source, int(live))
        await self._database.write(lambda connection: connection.execute(_BEGIN, values))

    async def end(self, run: str, verdict: str) -> None:
        """Store the verdict of a replay, as JSON text. Raises BadValue."""
        clean_text(verdict, "the verdict")
        await self._database.write(lambda connection: connection.execute(_END, (verdict, run)))

    async def get(self, run: str) -> ReplayRow | None:
        """Return the row of a replay; None if the run isn't one."""
        rows = await self._database.find(_GET, run)
        return ReplayRow(*rows[0]) if rows else None

    async def events(self, session_key: int, run: str) -> list[tuple[int, Event]]:
        """Return the run's events with their numbers, in order."""
        rows = await self._database.fetch(_EVENTS, session_key, run)
        return [(number, Event(data)) for number, data in rows]

    async def extents(self, session_key: int) -> dict[str, tuple[int, int]]:
        """Return the numbers of the first and last event of each of the session's runs that has
        any."""
        rows = await self._database.fetch(_EXTENTS, session_key)
        return {run: (first, last) for run, first, last in rows}

    async def fragments(self, session_key: int, run: str) -> list[str]:
        """Return the JSON of the run's partial events, in order."""
        return [data for (data,) in await self._database.fetch(_CHUNKS, session_key, run)]

    async def calls(self, session_key: int, run: str) -> list[CallRecord]:
        """Return the run's spans with their payloads, in the order in which they began."""
        requests, calls = Requests(self._database.fetch, session_key), []
        for *row, sent, request, result, effects in await self._database.fetch(
            _CALLS, session_key, run
        ):
            span = SpanRow(*row)
            payload = await requests.payload(span.name, sent, request)
            calls.append(CallRecord(span, payload, result, effects))
        return calls

    async def credentials(self, limit: int) -> list[str]:
        """Return the JSON of the last `limit` events, in any session, in which people provided a
        credential."""
        return [data for (data,) in reversed(await self._database.fetch(_CREDENTIALS, limit))]
