"""Writes to a fast disk are done in the event loop's thread, and never wait there."""

import asyncio
import math
import sqlite3
import sys
import threading
import time

import pytest

from devui.runtime.databases import Database, DatabasePath
from devui.runtime.errors import SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.plain_threads import Call
from devui.runtime.sessions import Session, SqliteSessionService
from tests.kit.patience import PATIENCE

WHERE = {"app_name": "app", "user_id": "u"}
MOMENT = "devui.runtime.databases._MOMENT"
ENOUGH = 200
"""After this many writes in a row to a fast disk, some are done in the loop's thread."""


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat this machine's disk as fast, however slow it is."""
    monkeypatch.setattr(MOMENT, math.inf)


@pytest.fixture
async def database():
    database = Database(DatabasePath.of(":memory:"), prepare)
    yield database
    await database.close()


def prepare(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)")


def is_on_the_spot(_: sqlite3.Connection) -> bool:
    return threading.current_thread() is threading.main_thread()


async def write(database: Database, job, size: int = 0) -> bool:
    outcome = database.begin_write(job, size=size)
    if isinstance(outcome, Call) and outcome.remainder is not None:
        await outcome.remainder
    return outcome.value()


async def hurry(database: Database) -> None:
    """Write until a write is done in the loop's thread."""
    for _ in range(ENOUGH):
        if await write(database, is_on_the_spot):
            return
    pytest.fail("No write was done on the spot.")


async def test_a_slow_disk_blocks_the_loop_at_most_once(database, monkeypatch):
    def slow(connection: sqlite3.Connection) -> bool:
        time.sleep(0.01)
        return is_on_the_spot(connection)

    await hurry(database)
    monkeypatch.setattr(MOMENT, 0.005)
    on_the_spot = [await write(database, slow) for _ in range(20)]
    assert not any(on_the_spot[1:])


async def test_an_error_in_the_loops_thread_is_raised_and_leaves_nothing(database):
    places = []

    def fail(connection: sqlite3.Connection) -> None:
        places.append(is_on_the_spot(connection))
        connection.execute("INSERT INTO notes VALUES ('half')")
        connection.execute("INSERT INTO notes VALUES (NULL)")

    while not any(places):
        await hurry(database)
        with pytest.raises(sqlite3.IntegrityError) as error:
            await write(database, fail)
        assert error.value.__notes__ == ["Database file: :memory:."]
    assert await database.read(lambda each: each.execute("SELECT * FROM notes").fetchall()) == []


async def test_the_loop_does_not_wait_for_another_process(tmp_path):
    path = tmp_path / "notes.db"
    database = Database(DatabasePath.of(path), prepare)
    await hurry(database)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    await written_while_held(database, other)


async def test_the_loop_does_not_wait_for_a_file_to_be_opened(tmp_path):
    path = tmp_path / "notes.db"
    database = Database(DatabasePath.of(path), prepare)
    await hurry(database)
    await database.close()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    await written_while_held(database, other)


async def test_the_loop_does_not_wait_for_a_moved_file(tmp_path):
    path = tmp_path / "notes.db"
    database = Database(DatabasePath.of(path), prepare)
    await hurry(database)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    path.rename(tmp_path / "moved.db")
    await written_while_held(database, other)


async def written_while_held(database: Database, other: sqlite3.Connection) -> None:
    """Write while `other` locks the file, which it unlocks once the loop continues."""
    loop, goes_on = asyncio.get_running_loop(), threading.Event()
    loop.call_soon(goes_on.set)

    def let_go() -> bool:
        went_on = goes_on.wait(PATIENCE)
        other.execute("COMMIT")
        return went_on

    letting_go = loop.run_in_executor(None, let_go)
    assert await write(database, is_on_the_spot) is False
    assert await letting_go
    other.close()
    await database.close()


async def test_an_interrupt_in_the_loops_thread_leaves_no_open_transaction(database):
    """This happens in notebooks, which continue in the same process."""

    def interrupt(_frame: object, event: str, function: object) -> None:
        if event == "c_return" and function == begin and connections[0].in_transaction:
            sys.setprofile(None)
            raise KeyboardInterrupt

    connections: list[sqlite3.Connection] = []
    await write(database, connections.append)
    begin = connections[0].execute
    await hurry(database)
    sys.setprofile(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            database.begin_write(is_on_the_spot, size=0).value()
    finally:
        sys.setprofile(None)
    assert await database.write(lambda each: each.execute("SELECT 1").fetchone()[0]) == 1


async def test_a_large_write_does_not_block_the_loop(database):
    await hurry(database)
    assert await write(database, is_on_the_spot, size=1_000_000) is False


async def test_the_loop_does_not_wait_for_another_job(database):
    begun, go_on = threading.Event(), threading.Event()

    def long(_: sqlite3.Connection) -> bool:
        begun.set()
        return go_on.wait(PATIENCE)

    await hurry(database)
    reading = asyncio.create_task(database.read(long))
    await asyncio.to_thread(begun.wait)
    asyncio.get_running_loop().call_later(0.05, go_on.set)
    assert await write(database, is_on_the_spot) is False
    assert await reading is True


async def test_many_quick_writes_let_other_tasks_run_in_between():
    async def count() -> None:
        while True:
            turns.append(len(session.events))
            await asyncio.sleep(0)

    service, turns = SqliteSessionService(":memory:"), []
    session = await service.create_session(**WHERE)
    counting = asyncio.create_task(count())
    while len(set(turns)) < 4 and len(session.events) < 20_000:
        await service.append_event(session, Event(author="a", message="again"))
    counting.cancel()
    assert len(set(turns)) == 4
    await service.close()


async def test_the_write_ahead_log_of_a_file_stays_small(tmp_path):
    service = SqliteSessionService(tmp_path / "sessions.db")
    session = await service.create_session(**WHERE)
    for number in range(800):
        await service.append_event(session, Event(author="a", message=f"{number}" + 20_000 * "x"))
    assert (tmp_path / "sessions.db").stat().st_size > 8_000_000
    # 1000 pages, and nine per event until a thread runs; 26 MB are written in total.
    assert (tmp_path / "sessions.db-wal").stat().st_size < 9_000_000
    await service.close()


async def test_sessions_read_in_the_loops_thread_are_up_to_date(tmp_path):
    """Short, cached, changed by others, deleted: all are read as a new service reads them."""
    path = tmp_path / "sessions.db"
    service, other = SqliteSessionService(path), SqliteSessionService(path)
    for length in (0, 3, 60):
        session = await service.create_session(**WHERE, session_id=f"s{length}")
        for number in range(length):
            await service.append_event(session, Event(author="a", message=str(number)))
        where = {**WHERE, "session_id": session.id}
        assert len((await service.get_session(**where)).events) == length
        copy = await other.get_session(**where)
        await other.append_event(copy, Event(author="a", message="another"))
        read = await service.get_session(**where)
        assert [event.content.parts[0].text for event in read.events] == [
            *(str(number) for number in range(length)),
            "another",
        ]
        await other.delete_session(**where)
        assert await service.get_session(**where) is None
        with pytest.raises(SessionNotFoundError):
            await service.append_event(read, Event(author="a", message="late"))
    await service.close()
    await other.close()


async def parses_here(service: SqliteSessionService, session: Session) -> bool:
    """Whether the loop's own thread parses events while the session is read."""
    functions = set()
    sys.setprofile(lambda frame, *_: functions.add(frame.f_code.co_name))
    try:
        assert await service.get_session(**WHERE, session_id=session.id)
    finally:
        sys.setprofile(None)
    return "read_event" in functions


async def test_a_large_event_is_not_read_in_the_loops_thread(tmp_path):
    service = SqliteSessionService(tmp_path / "sessions.db")
    small = await service.create_session(**WHERE)
    large = await service.create_session(**WHERE)
    await service.append_event(large, Event(author="a", message=200_000 * "x"))
    for _ in range(ENOUGH):
        await service.append_event(small, Event(author="a", message="small"))
        if await parses_here(service, small):
            break
    else:
        pytest.fail("Nothing was read on the spot.")
    assert not await parses_here(service, large)
    await service.close()
