"""Imported sessions: built from the records of a bundle, read-only or to be continued.

A session is built in one job from records in the order of a bundle, so it exists entirely or not at
all. A read-only one gets private scopes, as forks do; one imported to be continued shares those of
its user and app. Sequence numbers are assigned in the order of the records.
"""

import sqlite3
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace

from devui.store.events import adopt
from devui.store.notes import notes_of, put_note
from devui.store.rows import (
    Json,
    NewEdit,
    NewEvent,
    NewTouch,
    NoteRow,
    OutputLine,
    RunRow,
    Scope,
    SessionRow,
)
from devui.store.runs.requests import NewSpan, add_pieces, request_text
from devui.store.sessions import (
    delete_session,
    private_scopes,
    require_free,
    require_session,
    set_first_title,
    shared_scopes,
)
from devui.store.sqlite.database import Database, advance
from devui.store.state import route_initial, write_state
from devui.store.tags import add_tag, tags_of
from devui.store.values import (
    bounded,
    clean_text,
    finite,
    json_text,
    name_text,
    optional_text,
    printable,
)

_GET = "SELECT data FROM imports WHERE session = ?"
_MEMBERS = "SELECT json_extract(data, '$.extra.members') FROM imports WHERE session = ?"
_AMONG = "SELECT session FROM imports WHERE session IN (SELECT value FROM json_each(?))"
_SESSION = """
    INSERT INTO sessions (key, app, user, id, title, created, updated, seq, born,
                          own_scope, user_scope, app_scope)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_IMPORT = "INSERT INTO imports (session, data, created) VALUES (?, ?, ?)"
_FORK = """
    INSERT INTO forks (session, parent, number, reason, note, invocation, created)
    VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_BORN = "UPDATE sessions SET born = ? WHERE key = ?"
_DONE = "UPDATE sessions SET seq = ?, updated = ? WHERE key = ?"
_EDIT = """
    INSERT INTO edits (session, run, gate, agent, tool, call, event, action, actor, at,
                       before, after, turn)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_DROPPED = "UPDATE edits SET seq = ? WHERE id = ? AND session = ?"
_CHUNK = "INSERT INTO chunks (session, run, event, data) VALUES (?, ?, ?, ?)"
_CONTENT = "INSERT INTO contents (text, data) VALUES (?, ?)"
_FILE = """
    INSERT INTO artifacts (scope, name, version, mime, size, custom_metadata, created, seq, content)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_HAS_FILE = "SELECT 1 FROM artifacts WHERE scope = ? AND name = ? AND version = ?"
_RUN = """
    INSERT INTO runs (id, session, invocation_id, status, error, started, ended, seq, message,
                      unfinished, closed, held)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_HELD = "INSERT INTO positions (run, data) VALUES (?, ?)"
_OUTPUT = "INSERT INTO output (run, number, stream, text, at) VALUES (?, ?, ?, ?, ?)"
_TOUCH = """
    INSERT INTO uncommitted (run, number, session, event, flagged, data) VALUES (?, ?, ?, ?, ?, ?)
"""
_SPAN = """
    INSERT INTO spans (session, run, number, parent, type, name, agent, branch, call, began, sent,
                       request, event, seconds, first, error, result, effects)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_USER_FILE = "user:"

SpanOver = tuple[float | None, float | None, str | None, str | None, str | None]
"""Seconds, seconds until the first part, error, result and effects; the last two are JSON texts."""

Records = Callable[["SessionBuilder"], None]
"""Passes the records of one bundle to a `SessionBuilder`, in order; may be called twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewImport:
    """The session to import."""

    app: str
    user: str
    title: str | None
    created: float
    updated: float
    data: str
    """The bundle's record of the session, as JSON text."""
    id: str | None = None
    """The id to keep; None for a new one."""
    tags: Sequence[str] = ()
    goes_on: bool = False
    """Whether it can be continued like any other session; otherwise, it is read-only."""
    fork: tuple[int, str, str | None, str | None, float] | None = None
    """For a fork: the last event copied from the parent, the reason, the note, the invocation that
    was cut in two, and the time."""


class Imports:
    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def add(self, new: NewImport, records: Records) -> SessionRow:
        """Import the session. Raises SessionExists, BadValue and whatever `records` raises."""
        clean_text(new.app, "the application's name")
        name_text(new.user, "the user's id")
        if new.id:
            name_text(new.id, "the session's id")
        optional_text(new.title, "the title")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> SessionRow:
            builder = SessionBuilder(connection, new, now)
            records(builder)
            return builder.finish(new.updated)

        return await self._database.write(work)

    async def get(self, session_key: int) -> str | None:
        """Return the bundle's record of the session, as JSON text.

        None if the session wasn't imported as read-only.
        """
        rows = await self._database.find(_GET, session_key)
        return str(rows[0][0]) if rows else None

    async def unknown_members(self, session_key: int) -> int:
        """Return the number of unknown members of its bundle, which were set aside."""
        rows = await self._database.fetch(_MEMBERS, session_key)
        return int(rows[0][0] or 0) if rows else 0

    async def among(self, session_keys: Sequence[int]) -> set[int]:
        """Return those of the keys whose sessions were imported as read-only."""
        keys = str([bounded(key) for key in session_keys])
        return {key for (key,) in await self._database.fetch(_AMONG, keys)}


class SessionBuilder:
    """A session under construction. All numbers, ids and scopes are those of this journal."""

    def __init__(
        self, connection: sqlite3.Connection, new: NewImport, now: float, key: int | None = None
    ) -> None:
        """Create the session under `key`, that of the session it replaces, or under a new key."""
        self._connection = connection
        if new.id:
            require_free(connection, new.app, new.user, new.id)
        scopes = shared_scopes if new.goes_on else private_scopes
        self._scopes = scopes(connection, new.app, new.user)
        self._pieces: dict[str, int] = {}
        """The numbers of stored pieces, by name."""
        seq = advance(connection)
        names = (key, new.app, new.user, new.id or str(uuid.uuid4()), new.title)
        times = (finite(new.created, "created"), finite(new.updated, "updated"))
        row = (*names, *times, seq, seq, *self._scopes)
        self.key = connection.execute(_SESSION, row).lastrowid or 0
        """The session's key."""
        for tag in new.tags:
            add_tag(connection, new.app, self.key, tag)
        self.has_title = new.title is not None
        if not new.goes_on:
            connection.execute(_IMPORT, (self.key, new.data, now))
        if new.fork is not None:
            number, *rest = new.fork
            # No session has a negative key: the parent isn't in this journal.
            connection.execute(_FORK, (self.key, -self.key, number, *rest))

    def edit(self, edit: NewEdit) -> int:
        """Add a person's edit, and return its number in this journal."""
        for value in astuple(edit):
            if isinstance(value, str):
                clean_text(value, "an edit")
        row = (self.key, *astuple(edit))
        return self._connection.execute(_EDIT, row).lastrowid or 0

    def dropped(self, edit: int) -> None:
        """Record that the edit with this number dropped an event here."""
        self._connection.execute(_DROPPED, (advance(self._connection), edit, self.key))

    def chunk(self, event: str, run: str | None, data: str) -> None:
        """Add a partial event; all of them must precede the events that they became."""
        clean_text(event, "the event's id")
        clean_text(data, f"a chunk of event {event!r}")
        self._connection.execute(_CHUNK, (self.key, run, event, data))

    def write(self, scope: Scope, key: str, value: Json) -> None:
        """Add a write of state that none of the session's events made."""
        text = json_text(value, f"the state value of {key!r}")
        routed = [(scope, clean_text(key, "a state key"), text)]
        write_state(self._connection, advance(self._connection), self._scopes, routed)

    def start(self, state: Mapping[str, Json]) -> None:
        """Record the session's creation, with its initial state; keys have their prefixes."""
        born = advance(self._connection)
        write_state(self._connection, born, self._scopes, route_initial(state))
        self._connection.execute(_BORN, (born, self.key))

    def event(self, event: NewEvent, run: str | None) -> None:
        """Append the next event. Raises BadValue."""
        adopt(self._connection, self.key, event, run)

    def title(self, title: str) -> None:
        """Set the title of a session that has none."""
        set_first_title(self._connection, self.key, clean_text(title, "the title"))
        self.has_title = True

    def artifact(
        self,
        name: str,
        version: int,
        *,
        mime: str | None,
        metadata: Json,
        created: float,
        content: str | bytes,
    ) -> None:
        """Add one version of a file, unless it is a `user:` file whose version already exists."""
        text = clean_text(content, f"the text of {name!r}") if isinstance(content, str) else None
        data = content if isinstance(content, bytes) else None
        size = len(content.encode() if isinstance(content, str) else content)
        metadata_json = (
            None if metadata is None else json_text(metadata, f"the metadata of {name!r}")
        )
        mine = name.startswith(_USER_FILE)
        scope = self._scopes.user if mine else self._scopes.session
        row = (scope, clean_text(name, "the artifact's name"), version, mime, size, metadata_json)
        if mine and self._connection.execute(_HAS_FILE, row[:3]).fetchall():
            return
        place = (finite(created, "created"), advance(self._connection))
        content_id = self._connection.execute(_CONTENT, (text, data)).lastrowid
        self._connection.execute(_FILE, (*row, *place, content_id))

    def run(self, run: RunRow, position: str | None, paused: float) -> None:
        """Add an ended run.

        `position` is where the debugger held it, as JSON text, and `paused` for how many seconds.
        """
        for text in (run.error, run.message, run.unfinished, run.invocation_id, position):
            optional_text(text, "what is told of a run")
        seq = advance(self._connection)
        outcome = (run.invocation_id, run.status, run.error, run.started, run.ended, seq)
        values = (run.id, self.key, *outcome, run.message, run.unfinished, run.closed, paused)
        self._connection.execute(_RUN, values)
        if position is not None:
            self._connection.execute(_HELD, (run.id, position))

    def output(self, run: str, first: int, lines: Sequence[OutputLine]) -> None:
        """Add lines that a run printed, numbered from `first`."""
        rows = [
            (run, number, printable(line.stream), printable(line.text), line.at)
            for number, line in enumerate(lines, first)
        ]
        self._connection.executemany(_OUTPUT, rows)

    def add_touch(self, run: str, touch: NewTouch) -> None:
        """Add a run's uncommitted write of state, or a read of one."""
        clean_text(touch.data, "what a run did to its state")
        row = (run, touch.number, self.key, touch.event, touch.flagged, touch.data)
        self._connection.execute(_TOUCH, row)

    def piece(self, name: str, data: str) -> None:
        """Add a piece of model requests."""
        self._pieces |= add_pieces(self._connection, self.key, {name: data})

    def span(self, span: NewSpan, event: int | None, over: SpanOver) -> None:
        """Add a span, with the number of the event that it produced, and its end."""
        request = request_text(span, self._pieces)
        *values, _ = (getattr(span, each.name) for each in fields(span))
        self._connection.execute(_SPAN, (self.key, *values, request, event, *over))

    def note(self, note: NoteRow) -> None:
        """Add a note."""
        clean_text(note.text, "a note")
        put_note(self._connection, note)

    def finish(self, updated: float) -> SessionRow:
        """Set the session's time of last activity, and return its row."""
        self._connection.execute(_DONE, (advance(self._connection), updated, self.key))
        return require_session(self._connection, self.key)


_OF_TRACE = """
    SELECT span, session FROM received_spans JOIN sessions ON key = session
    WHERE trace = ? AND app = ?
"""
_OF_SESSION = "SELECT trace, span, data FROM received_spans WHERE session = ?"
_NAMED = """
    SELECT key, EXISTS (SELECT 1 FROM received_spans WHERE session = key)
    FROM sessions WHERE app = ? AND id = ?
"""
_ADD = "INSERT INTO received_spans (trace, span, session, data) VALUES (?, ?, ?, ?)"
_HAS = "SELECT EXISTS (SELECT 1 FROM received_spans WHERE session = ?)"
_TITLE = "SELECT id, title FROM sessions WHERE key = ?"


class SessionIdTaken(Exception):
    """The app has a session with this id that wasn't made from received spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrace:
    """The spans of one trace that have been received so far."""

    trace: str
    app: str
    session: str | None
    """The session's id, if a span has it; otherwise the trace becomes a session of its own."""
    spans: Mapping[str, str]
    """JSON texts by span id."""


Compose = Callable[[Sequence[str]], tuple[NewImport, Callable[[SessionBuilder], None]]]
"""Turns all spans of a session, as JSON texts, into the session and a function that builds it."""


class ReceivedTraces:
    """Turns received spans into sessions."""

    def __init__(self, database: Database, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock

    async def has(self, session: int) -> bool:
        """Return whether the session was made from received spans."""
        [(has,)] = await self._database.find(_HAS, session)
        return bool(has)

    async def take(self, new: NewTrace, compose: Compose) -> int | None:
        """Store the spans and rebuild their session; return its key, or None if nothing was new.

        Raises SessionIdTaken, BadValue.
        """
        clean_text(new.app, "the name of the service")
        if new.session:
            name_text(new.session, "the id of the conversation")
        now = self._clock()

        def work(connection: sqlite3.Connection) -> int | None:
            return _take(connection, new, compose, now)

        return await self._database.write(work)


def _take(
    connection: sqlite3.Connection, new: NewTrace, compose: Compose, now: float
) -> int | None:
    sessions_by_span = dict(connection.execute(_OF_TRACE, (new.trace, new.app)).fetchall())
    before = next(iter(sessions_by_span.values()), None)
    name = new.session or (None if before is None else _title(connection, before)[0]) or new.trace
    target = _target(connection, new.app, name) if new.session or before is None else before
    if target == before and before is not None and new.spans.keys() <= sessions_by_span.keys():
        return None
    spans = {(new.trace, span): data for span, data in new.spans.items()}
    old = {key for key in (target, before) if key is not None}
    for key in old:
        stored_spans = connection.execute(_OF_SESSION, (key,)).fetchall()
        spans = {(trace, span): data for trace, span, data in stored_spans} | spans
    session, build = compose(list(spans.values()))
    title = None if target is None else _title(connection, target)[1]
    notes = [] if target is None else notes_of(connection, target)
    tags = [] if target is None else tags_of(connection, target)
    for key in old:
        delete_session(connection, key)
    builder = SessionBuilder(
        connection, replace(session, id=name, title=title or session.title), now, target
    )
    build(builder)
    row = builder.finish(session.updated)
    rows = [(*place, row.key, data) for place, data in spans.items()]
    connection.executemany(_ADD, rows)
    for note in notes:
        if note.number <= row.events:
            put_note(connection, note)
    for tag in tags:
        add_tag(connection, row.app, row.key, tag)
    return row.key


def _title(connection: sqlite3.Connection, key: int) -> tuple[str, str | None]:
    name, title = connection.execute(_TITLE, (key,)).fetchone()
    return name, title


def _target(connection: sqlite3.Connection, app: str, name: str) -> int | None:
    rows = connection.execute(_NAMED, (app, name)).fetchall()
    if any(not received for _, received in rows):
        raise SessionIdTaken(
            f"app {app!r} already has a session {name!r} that did not come from a trace: use"
            " another conversation id, or delete that session"
        )
    return rows[0][0] if rows else None
