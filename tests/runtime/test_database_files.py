"""Files of sessions and memories that others change, delete or fill with something else."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from devui.runtime.errors import SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.memory import SqliteMemoryService
from devui.runtime.sessions import DatabaseSessionService, SqliteSessionService
from tests.source import ROOT

WHERE = {"app_name": "app", "user_id": "u"}


@pytest.fixture(params=["seconds", "dates"])
async def service(request, tmp_path):
    path = tmp_path / "some.db"
    if request.param == "seconds":
        opened = SqliteSessionService(path)
    else:
        opened = DatabaseSessionService(f"sqlite:///{path}")
    yield opened
    await opened.close()


def delete(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


async def ids(service: SqliteSessionService) -> list[str]:
    return [each.id for each in (await service.list_sessions(**WHERE)).sessions]


async def test_a_file_that_was_deleted_is_made_anew(service, tmp_path, caplog):
    session = await service.create_session(**WHERE, session_id="old")
    delete(tmp_path / "some.db")
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, Event(author="user", message="hi"))
    await service.create_session(**WHERE, session_id="new")
    assert await ids(service) == ["new"]
    assert "some.db was deleted or replaced; it is opened anew." in caplog.text
    other = SqliteSessionService(tmp_path / "some.db")
    assert await ids(other) == ["new"]
    await other.close()


async def test_a_file_that_another_took_the_place_of_is_used(service, tmp_path):
    await service.create_session(**WHERE, session_id="old")
    other = SqliteSessionService(tmp_path / "other.db")
    await other.create_session(**WHERE, session_id="another")
    await other.close()
    delete(tmp_path / "some.db")
    (tmp_path / "other.db").rename(tmp_path / "some.db")
    assert await ids(service) == ["another"]


async def test_a_database_in_memory_is_never_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (":memory:", "sqlite:///:memory:", "sqlite:///some.db?mode=memory"):
        service = SqliteSessionService(path)
        await service.create_session(**WHERE, session_id="s")
        assert await ids(service) == ["s"]
        await service.close()


async def test_a_relative_file_stays_the_same_when_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    service = SqliteSessionService("some.db")
    await service.create_session(**WHERE, session_id="s")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert await ids(service) == ["s"]
    await service.close()


async def test_errors_name_the_file(tmp_path):
    (tmp_path / "some.db").write_bytes(b"something else" * 100)
    with pytest.raises(sqlite3.DatabaseError) as caught:
        await ids(SqliteSessionService(tmp_path / "some.db"))
    assert caught.value.__notes__ == [f"The file is {tmp_path / 'some.db'}."]


FORKING = """
import asyncio, os, sys, threading
from devui.runtime.events import Event
from devui.runtime.sessions import SqliteSessionService

WHERE = {"app_name": "app", "user_id": "u"}
service = SqliteSessionService(sys.argv[1])

async def write(name):
    session = await service.create_session(**WHERE, session_id=name)
    for _ in range(5):
        await service.append_event(session, Event(author="user", message="hi"))

def write_all_the_time():
    number = 0
    while not over.is_set():
        asyncio.run(write(f"original {number}"))
        number += 1

asyncio.run(write("first"))
over = threading.Event()
thread = threading.Thread(target=write_all_the_time)
thread.start()
copies = []
for number in range(5):
    if not (copy := os.fork()):
        if number == 4:
            sys.stdin.read()  # until the original has closed the file
        asyncio.run(write(f"copy {number}"))
        os._exit(0)
    copies.append(copy)
over.set()
thread.join()
asyncio.run(service.close())
sys.stdout.write("closed\\n")
sys.stdout.flush()
sys.exit(sum(os.waitpid(copy, 0)[1] for copy in copies))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no forks")
def test_copies_that_a_process_forks_write_the_same_file(tmp_path):
    command = [sys.executable, "-c", FORKING, str(tmp_path / "some.db")]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "closed\n"
    process.communicate(timeout=60)
    assert process.returncode == 0
    with sqlite3.connect(tmp_path / "some.db") as connection:
        counted = "SELECT count(*) FROM events WHERE session_id LIKE 'copy %'"
        assert connection.execute(counted).fetchone() == (25,)
    connection.close()


async def test_memories_are_added_and_found_at_the_same_time(tmp_path):
    service = SqliteMemoryService(tmp_path / "below" / "some.db")

    async def remember(number: int) -> None:
        events = [Event(id=f"{number}-{i}", message=f"word {i}") for i in range(20)]
        await service.add_events_to_memory(**WHERE, events=events, session_id="s")

    async def forget(number: int) -> None:
        await service.delete_memory(**WHERE, memory_id=f"none {number}")

    for begin in range(0, 160, 40):
        together = range(begin, begin + 40)
        searches = (service.search_memory(**WHERE, query="word") for _ in together)
        forgets = (forget(number) for number in together)
        await asyncio.gather(*map(remember, together), *searches, *forgets)
    await service.close()
    with sqlite3.connect(tmp_path / "below" / "some.db") as connection:
        [count] = connection.execute("SELECT count(*) FROM memory_events").fetchone()
    connection.close()
    assert count == 160 * 20


def test_an_unknown_kind_of_index_is_refused(tmp_path):
    with pytest.raises(ValueError, match="auto, on, off, not 'maybe'"):
        SqliteMemoryService(tmp_path / "some.db", fts="maybe")
