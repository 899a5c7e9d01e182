"""Sessions in SQLite files, including google-adk's (adk-runtime 2.4 to 2.6)."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError, StaleSessionError
from devui.runtime.events import Event
from devui.runtime.sessions import (
    DatabaseSessionService,
    Session,
    SqliteSessionService,
    sqlite_rows,
)
from devui.runtime.sessions.base_session_service import GetSessionConfig
from devui.runtime.sessions.sqlite_rows import Key
from tests.kit.oracle import needs_adk, run_adk

WHERE = {"app_name": "app", "user_id": "u"}
BLOB = types.Part(inline_data=types.Blob(data=b"\xff\x00", mime_type="a/b"))
V1 = Path(__file__).parent / "data" / "database_session_service_v1.sql"
"""A file written by google-adk 2.13.0's DatabaseSessionService, as SQL."""


@pytest.fixture
async def sqlite_service(tmp_path):
    session_service = SqliteSessionService(tmp_path / "sessions.db")
    yield session_service
    await session_service.close()


async def reread(service: SqliteSessionService, **config) -> Session:
    get_config = GetSessionConfig(**config) if config else None
    session = await service.get_session(**WHERE, session_id="s", config=get_config)
    assert session is not None
    return session


def at(timestamp: float, **kwargs) -> Event:
    return Event(timestamp=4e9 + timestamp, **kwargs)


async def test_a_session_outlives_the_service(service, tmp_path):
    session = await service.create_session(
        **WHERE, session_id="s", state={"a": 1, "user:b": [1], "app:c": None, "temp:d": 4}
    )
    assert session.state == {"a": 1, "user:b": [1], "app:c": None}
    event = at(1.25, author="a", message=[BLOB, "hi"], state={"a": 2, "user:b": 3, "temp:e": 5})
    assert await service.append_event(session, event) is event
    assert session.state == {"a": 2, "user:b": 3, "app:c": None, "temp:e": 5}
    await service.close()

    read = await reread(service)
    assert read.state == {"a": 2, "user:b": 3, "app:c": None}
    assert read.last_update_time == session.last_update_time == event.timestamp
    assert [e.model_dump() for e in read.events] == [event.model_dump()]
    assert await service.get_user_state(**WHERE) == {"b": 3}
    other = await service.create_session(app_name="app", user_id="v")
    assert other.state == {"app:c": None}
    connection = sqlite3.connect(tmp_path / "sessions.db")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert "temp:" not in connection.execute("SELECT event_data FROM events").fetchone()[0]
    connection.close()


async def test_an_id_can_be_used_only_once(service):
    await service.create_session(**WHERE, session_id="s")
    with pytest.raises(AlreadyExistsError, match="'s'"):
        await service.create_session(**WHERE, session_id="s")
    assert len((await service.create_session(**WHERE)).id) == 36


async def test_ids_are_stripped_and_blank_ones_replaced(sqlite_service):
    assert (await sqlite_service.create_session(**WHERE, session_id=" s ")).id == "s"
    assert (await sqlite_service.get_session(**WHERE, session_id=" s")).id == "s"
    assert len((await sqlite_service.create_session(**WHERE, session_id="  ")).id) == 36


async def test_a_failed_creation_leaves_no_state(service):
    await service.create_session(**WHERE, session_id="s")
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**WHERE, session_id="s", state={"user:b": 1, "app:c": 1})
    assert (await reread(service)).state == {}


async def test_a_missing_session_can_be_deleted_but_not_appended_to(service):
    assert await service.get_session(**WHERE, session_id="s") is None
    await service.delete_session(**WHERE, session_id="s")
    with pytest.raises(SessionNotFoundError, match="'s'"):
        await service.append_event(Session(id="s", **WHERE), Event())


async def test_deleting_a_session_deletes_its_events_and_keeps_shared_state(service, tmp_path):
    session = await service.create_session(**WHERE, session_id="s", state={"user:b": 1})
    await service.append_event(session, at(1))
    await service.delete_session(**WHERE, session_id="s")
    assert (await service.create_session(**WHERE, session_id="s")).state == {"user:b": 1}
    assert (await reread(service)).events == []


async def test_a_partial_event_leaves_no_trace(service):
    session = await service.create_session(**WHERE, session_id="s")
    await service.append_event(session, Event(state={"a": 1}, partial=True))
    assert (session.events, session.state) == ([], {})
    assert (await reread(service)).events == []


async def test_appending_an_event_twice_stores_it_once_and_reusing_its_id_fails(service):
    session = await service.create_session(**WHERE, session_id="s")
    event = at(1, id="x", author="a")
    for _ in range(2):
        await service.append_event(session, event)
    assert len(session.events) == len((await reread(service)).events) == 1
    with pytest.raises(AlreadyExistsError, match="'x'"):
        await service.append_event(session, at(2, id="x", author="b"))


async def test_a_stale_copy_cannot_append(service):
    session = await service.create_session(**WHERE, session_id="s")
    stale = await reread(service)
    await service.append_event(session, at(1))
    with pytest.raises(StaleSessionError, match="get_session"):
        await service.append_event(stale, at(2, state={"a": 1, "temp:b": 1}))
    assert (stale.state, stale.events) == ({}, [])
    await service.append_event(await reread(service), at(2))
    assert len((await reread(service)).events) == 2


async def test_events_are_ordered_by_time_and_then_by_insertion(sqlite_service):
    session = await sqlite_service.create_session(**WHERE, session_id="s")
    for author in ("c", "a", "b"):
        await sqlite_service.append_event(session, at(1, author=author))
    assert [event.author for event in (await reread(sqlite_service)).events] == ["c", "a", "b"]


async def test_a_session_can_be_read_in_part(service):
    session = await service.create_session(**WHERE, session_id="s")
    for moment in (1.0, 2.0, 3.0):
        await service.append_event(session, at(moment, author=str(moment)))

    async def authors(**config) -> list[str]:
        return [event.author for event in (await reread(service, **config)).events]

    assert await authors(num_recent_events=2) == ["2.0", "3.0"]
    assert await authors(num_recent_events=0) == []
    assert await authors(after_timestamp=4e9 + 2) == ["2.0", "3.0"]
    assert await authors(after_timestamp=0) == ["1.0", "2.0", "3.0"]
    assert await authors(num_recent_events=1, after_timestamp=4e9 + 2) == ["3.0"]


async def test_lists_are_ordered_by_change_and_have_no_events(service):
    for user, name, moment in (("u", "b", 2.0), ("u", "a", 1.0), ("v", "c", 1.0)):
        session = await service.create_session(app_name="app", user_id=user, session_id=name)
        await service.append_event(session, at(moment, state={"user:k": user}))
    everyone = (await service.list_sessions(app_name="app")).sessions
    assert [(s.id, s.events, s.state) for s in everyone] == [
        ("a", [], {"user:k": "u"}),
        ("c", [], {"user:k": "v"}),
        ("b", [], {"user:k": "u"}),
    ]
    mine = (await service.list_sessions(app_name="app", user_id="v")).sessions
    assert [s.id for s in mine] == ["c"]


async def test_values_that_are_not_json_are_stored_as_their_repr(service, caplog):
    session = await service.create_session(**WHERE, session_id="s")
    await service.append_event(session, at(1, state={"a": object(), "b": float("nan")}))
    state = (await reread(service)).state
    assert state["a"].startswith("<object object")
    assert state["b"] is None
    assert "not JSON-serializable" in caplog.text


async def test_iterators_are_read_once_for_the_state_and_the_event(service):
    session = await service.create_session(**WHERE, session_id="s")
    once = {"steps": map(str, [1, 2]), "user:plan": {"days": (iter([1]), 2)}, "temp:it": iter([1])}
    await service.append_event(session, at(1, state=once))
    read = await reread(service)
    assert read.state == {"steps": ["1", "2"], "user:plan": {"days": [[1], 2]}}
    assert read.events[0].actions.state_delta == read.state
    assert session.state["steps"] == ["1", "2"]
    assert next(session.state["temp:it"]) == 1


async def test_numbers_are_stored_exactly(service):
    numbers = {"big": 2**80, "float": 0.1 + 0.2, "user:big": -(2**70), "app:float": 1e-300}
    await service.create_session(**WHERE, session_id="s", state=numbers)
    session = await reread(service)
    await service.append_event(session, at(1, state={"other": 1, "user:o": 1, "app:o": 1}))
    assert numbers.items() <= (await reread(service)).state.items()


async def test_many_operations_in_a_row_let_other_tasks_run(service):
    session = await service.create_session(**WHERE, session_id="s")
    rounds = 0

    async def others() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    for moment in range(1, 21):
        await service.append_event(session, at(moment))
        await reread(service)
    task.cancel()
    assert rounds >= 40


@pytest.mark.parametrize(("count", "size", "is_short"), [(20, 9, 1), (21, 9, 0), (2, 60_000, 0)])
async def test_a_session_with_few_small_events_is_short(tmp_path, count, size, is_short):
    service = SqliteSessionService(tmp_path / "sessions.db")
    session = await service.create_session(**WHERE, session_id="s")
    for moment in range(1, count + 1):
        await service.append_event(session, at(moment, state={"text": "x" * size}))
    await service.close()
    with closing(sqlite3.connect(tmp_path / "sessions.db")) as connection:
        assert sqlite_rows.is_short(connection, Key("app", "u", "s")) == is_short


async def test_a_cancelled_append_keeps_the_file_and_the_session_in_sync(service):
    session = await service.create_session(**WHERE, session_id="s")
    for moment in range(1, 6):
        task = asyncio.create_task(service.append_event(session, at(moment)))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    reread_session = await reread(service)
    assert [e.id for e in reread_session.events] == [e.id for e in session.events]
    await service.append_event(session, at(9))


async def test_an_append_cancelled_while_waiting_for_a_lock_is_completed(tmp_path):
    service = SqliteSessionService(tmp_path / "sessions.db")
    session = await service.create_session(**WHERE, session_id="s")
    with closing(sqlite3.connect(tmp_path / "sessions.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(service.append_event(session, at(1)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done(), "it knows not yet whether its event is stored"
        other.execute("ROLLBACK")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [e.id for e in session.events] == [e.id for e in (await reread(service)).events] != []
    await service.append_event(session, at(2))
    await service.close()


async def test_two_services_share_a_file(tmp_path):
    first, second = (SqliteSessionService(tmp_path / "sessions.db") for _ in range(2))

    async def fill(service, user: str) -> None:
        session = await service.create_session(app_name="app", user_id=user, session_id="s")
        for number in range(20):
            await service.append_event(session, at(number, state={f"app:{user}{number}": 1}))

    await asyncio.gather(fill(first, "u"), fill(second, "v"))
    assert len((await reread(first)).state) == 40
    await first.close()
    await second.close()


async def test_a_database_in_memory_lives_until_it_is_closed():
    service = SqliteSessionService(":memory:")
    await service.create_session(**WHERE, session_id="s")
    assert (await reread(service)).id == "s"
    await service.close()
    assert await service.get_session(**WHERE, session_id="s") is None
    await service.close()


async def test_a_file_may_be_given_as_a_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for url, file in (
        ("sqlite:///one%20two.db", tmp_path / "one two.db"),
        (f"sqlite+aiosqlite:////{tmp_path}/three.db", tmp_path / "three.db"),
    ):
        service = SqliteSessionService(url)
        await service.create_session(**WHERE, session_id="s")
        await service.close()
        assert file.exists()
    reader = SqliteSessionService("sqlite:///three.db?mode=ro")
    assert (await reread(reader)).id == "s"
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await reader.create_session(**WHERE, session_id="t")
    await reader.close()
    with pytest.raises(ValueError, match="empty"):
        SqliteSessionService("  ")


@pytest.mark.parametrize("kind", [SqliteSessionService, DatabaseSessionService])
async def test_files_of_adks_database_service_are_used_in_their_format(tmp_path, kind):
    connection = sqlite3.connect(tmp_path / "v1.db")
    connection.executescript(V1.read_text())
    connection.close()
    service = kind(f"sqlite:////{tmp_path}/v1.db")

    session = await service.get_session(**WHERE, session_id=" s ")
    assert session.state == {"a": 2, "user:b": None, "app:c": {"d": 0.1}}
    assert session.last_update_time == 1700000002.123456
    assert [(e.id, e.invocation_id, e.author, e.timestamp) for e in session.events] == [
        ("e1", "i", "user", 1700000001.25),
        ("e2", "i", "agent", 1700000002.123456),
    ]
    assert session.events[1].content.parts == [BLOB, types.Part(text="hi")]

    await service.append_event(session, Event(id="e3", timestamp=1700000003.5, state={"a": 3}))
    read = await service.get_session(**WHERE, session_id=" s ")
    assert [event.id for event in read.events] == ["e1", "e2", "e3"]
    await service.close()
    connection = sqlite3.connect(tmp_path / "v1.db")
    moments = connection.execute("SELECT update_time FROM sessions").fetchall()
    connection.close()
    assert moments == [("2023-11-14 22:13:23.500000",)]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("CREATE TABLE events (id TEXT, actions BLOB)", "adk migrate"),
        (
            """CREATE TABLE events (id TEXT, event_data TEXT);
            CREATE TABLE adk_internal_metadata (key TEXT, value TEXT);
            INSERT INTO adk_internal_metadata VALUES ('schema_version', '2')""",
            "version 2",
        ),
    ],
)
async def test_files_that_cannot_be_read_are_left_unchanged(tmp_path, schema, message):
    connection = sqlite3.connect(tmp_path / "old.db")
    connection.executescript(schema)
    connection.close()
    before = (tmp_path / "old.db").read_bytes()
    service = SqliteSessionService(tmp_path / "old.db")
    with pytest.raises(RuntimeError, match=message):
        await service.list_sessions(app_name="app")
    await service.close()
    assert (tmp_path / "old.db").read_bytes() == before


async def test_a_file_that_is_not_a_database_is_named_and_left_unchanged(tmp_path):
    (tmp_path / "notes.db").write_text("Buy milk. " * 500)
    service = SqliteSessionService(tmp_path / "notes.db")
    with pytest.raises(RuntimeError, match=r"notes\.db is not a SQLite database"):
        await service.create_session(app_name="app", user_id="me")
    await service.close()
    assert (tmp_path / "notes.db").read_text() == "Buy milk. " * 500


@pytest.mark.req("R29")
async def test_pickles_of_google_adk_are_never_unpickled(tmp_path):
    marker = tmp_path / "marker"
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        connection.execute("CREATE TABLE events (id TEXT, session_id TEXT, actions BLOB)")
        bomb = f"cos\nmkdir\n(V{marker}\ntR.".encode()
        connection.execute("INSERT INTO events VALUES ('e1', 's', ?)", [bomb])
        connection.commit()
    for service in (SqliteSessionService, DatabaseSessionService):
        reopened = service(f"sqlite:///{tmp_path / 'old.db'}")
        with pytest.raises(RuntimeError, match="can't be read safely"):
            await reopened.get_session(**WHERE, session_id="s")
        await reopened.close()
    assert not marker.exists()


def test_database_servers_are_refused():
    with pytest.raises(ValueError, match="postgresql"):
        DatabaseSessionService("postgresql://localhost/db")


async def test_harmless_engine_settings_are_accepted_and_others_refused(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path / 'sessions.db'}"
    how = {"connect_args": {"timeout": 5}, "pool_pre_ping": True, "echo": False}
    async with DatabaseSessionService(db_url=url, **how) as service:
        await service.create_session(**WHERE, session_id="s", state={"k": 1})
        assert (await reread(service)).state == {"k": 1}
    with pytest.raises(TypeError, match="doesn't accept db_engine, json_serializer: it works"):
        DatabaseSessionService(url, db_engine=object(), json_serializer=str)


@needs_adk
async def test_google_adk_continues_our_session_and_we_continue_its(sqlite_service, tmp_path):
    session = await sqlite_service.create_session(
        **WHERE, session_id="s", state={"a": 1, "user:b": 2.5, "app:c": {"d": None}}
    )
    await sqlite_service.append_event(session, at(1, author="a", message=[BLOB, "é"]))
    output = run_adk(
        """
        from google.adk.events import Event
        from google.adk.sessions.sqlite_session_service import SqliteSessionService
        service = SqliteSessionService(args[0])
        where = dict(app_name="app", user_id="u")
        session = await service.get_session(**where, session_id="s")
        parts = session.events[0].content.parts
        print(sorted(session.state.items()), parts[0].inline_data.data, parts[1].text)
        event = Event(id="theirs", timestamp=4e9 + 2, state={"a": 2, "user:n": [1]})
        await service.append_event(session, event)
        """,
        tmp_path / "sessions.db",
    )
    state = [("a", 1), ("app:c", {"d": None}), ("user:b", 2.5)]
    assert output == f"{state} {BLOB.inline_data.data} é\n"
    with pytest.raises(StaleSessionError):
        await sqlite_service.append_event(session, at(3))
    read = await reread(sqlite_service)
    assert read.events[-1].id == "theirs"
    assert read.state == {"a": 2, "user:b": 2.5, "user:n": [1], "app:c": {"d": None}}
    await sqlite_service.append_event(read, at(3))


keys = st.sampled_from(["a", "b", "user:c", "app:d", "temp:e"])
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(deltas=st.lists(st.dictionaries(keys, values, max_size=4), max_size=6))
async def test_the_stored_state_is_the_fold_of_the_deltas(deltas):
    service = SqliteSessionService(":memory:")
    session = await service.create_session(**WHERE, session_id="s")
    state: dict = {}
    for number, delta in enumerate(deltas):
        await service.append_event(session, at(number, state=delta))
        state.update({k: v for k, v in delta.items() if not k.startswith("temp:")})
    assert (await reread(service)).state == state
    await service.close()


# Sessions that were read before aren't parsed again


async def grown(service, *timestamps: float) -> Session:
    """Append events at these times to session s, and return it."""
    session = await reread(service)
    for timestamp in timestamps:
        await service.append_event(session, at(timestamp, message=f"at {timestamp}"))
    return session


def texts(session: Session) -> list[str]:
    return [event.message.parts[0].text for event in session.events]


async def test_a_grown_session_reuses_the_events_read_before(service):
    await service.create_session(**WHERE, session_id="s")
    session = await grown(service, 1, 2)
    before = await reread(service)
    await grown(service, 3)
    after = await reread(service)
    assert texts(after) == ["at 1", "at 2", "at 3"]
    assert [a is b for a, b in zip(before.events, after.events, strict=False)] == [True, True]
    assert texts(before) == ["at 1", "at 2"], "its list is its own"
    session.events[0].message.parts[0].text = "changed by an agent"
    assert texts(await reread(service)) == ["at 1", "at 2", "at 3"]


async def test_events_written_by_other_services_are_read(service, tmp_path):
    await service.create_session(**WHERE, session_id="s")
    await grown(service, 1)
    url = f"sqlite:///{tmp_path / 'sessions.db'}"
    other = type(service)(url)
    await grown(other, 2)
    assert texts(await reread(service)) == ["at 1", "at 2"]
    await grown(service, 3)
    assert texts(await reread(other)) == ["at 1", "at 2", "at 3"]
    await other.close()


async def test_an_event_that_arrives_late_is_in_its_place_by_time(service):
    await service.create_session(**WHERE, session_id="s")
    await grown(service, 1, 3)
    await reread(service)
    with sqlite3.connect(service._sessions_database.path.target) as connection:
        connection.execute("UPDATE sessions SET update_time = create_time")
    session = await reread(service)
    session.last_update_time = 9e9
    await service.append_event(session, at(2, message="at 2"))
    assert texts(await reread(service)) == ["at 1", "at 2", "at 3"]


async def test_a_recreated_session_begins_without_events(service):
    await service.create_session(**WHERE, session_id="s")
    await grown(service, 1)
    await reread(service)
    await service.delete_session(**WHERE, session_id="s")
    await service.create_session(**WHERE, session_id="s")
    assert texts(await reread(service)) == []
    await grown(service, 2)
    assert texts(await reread(service)) == ["at 2"]


async def test_no_known_rows_are_read_for_a_new_session_and_its_next_event(sqlite_service):
    statements: list[str] = []
    session = await sqlite_service.create_session(**WHERE, session_id="s")
    await sqlite_service._sessions_database.read(
        lambda connection: connection.set_trace_callback(statements.append)
    )
    await reread(sqlite_service)
    assert not [each for each in statements if " FROM events " in each]
    statements.clear()
    await sqlite_service.append_event(session, at(1))
    assert not [each for each in statements if "SELECT" in each]


async def test_a_closed_file_is_read_again():
    service = SqliteSessionService(":memory:")
    for _ in range(2):
        await service.create_session(**WHERE, session_id="s")
        await grown(service, 1)
        assert texts(await reread(service)) == ["at 1"]
        await service.close()


async def test_tables_can_be_created_before_the_first_session(tmp_path):
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'sessions.db'}") as service:
        for _ in range(2):
            await service.prepare_tables()
        with closing(sqlite3.connect(tmp_path / "sessions.db")) as file:
            tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master")}

    assert {"sessions", "events", "app_states", "user_states"} <= tables
