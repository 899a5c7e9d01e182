"""Session and memory files that others change, delete or replace."""

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from devui.runtime.errors import SessionNotFoundError
from devui.runtime.events import Event
from devui.runtime.memory import SqliteMemoryService
from devui.runtime.sessions import SqliteSessionService
from tests.source import ROOT

WHERE = {"app_name": "app", "user_id": "u"}


def delete(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


async def ids(service: SqliteSessionService) -> list[str]:
    return [each.id for each in (await service.list_sessions(**WHERE)).sessions]


async def session_ids(path) -> list[str]:
    """Return the ids of the sessions that another program finds at the path."""
    service = SqliteSessionService(path)
    response = await service.list_sessions(**WHERE)
    await service.close()
    return [session.id for session in response.sessions]


async def test_a_deleted_file_is_created_again(service, tmp_path, caplog):
    session = await service.create_session(**WHERE, session_id="old")
    delete(tmp_path / "sessions.db")
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, Event(author="user", message="hi"))
    await service.create_session(**WHERE, session_id="new")
    assert await ids(service) == ["new"]
    assert "sessions.db was removed or replaced; opening it again." in caplog.text
    other = SqliteSessionService(tmp_path / "sessions.db")
    assert await ids(other) == ["new"]
    await other.close()


async def test_a_file_that_replaces_the_original_is_used(service, tmp_path):
    await service.create_session(**WHERE, session_id="old")
    other = SqliteSessionService(tmp_path / "other.db")
    await other.create_session(**WHERE, session_id="another")
    await other.close()
    delete(tmp_path / "sessions.db")
    (tmp_path / "other.db").rename(tmp_path / "sessions.db")
    assert await ids(service) == ["another"]


async def test_a_copy_that_replaces_the_file_is_used(tmp_path):
    path = tmp_path / "sessions.db"
    service = SqliteSessionService(path)
    session = await service.create_session(**WHERE, session_id="s")
    other = SqliteSessionService(tmp_path / "copy.db")
    restored = await other.create_session(**WHERE, session_id="s")
    await other.append_event(restored, Event(author="a", message="of the copy"))
    await other.close()
    await service.append_event(session, Event(author="a", message="of the file"))
    (tmp_path / "copy.db").replace(path)

    read = await service.get_session(**WHERE, session_id="s")
    assert [event.content.parts[0].text for event in read.events] == ["of the copy"]
    await service.append_event(read, Event(author="a", message="more"))
    await service.close()
    reader = SqliteSessionService(path)
    again = await reader.get_session(**WHERE, session_id="s")
    assert [event.content.parts[0].text for event in again.events] == ["of the copy", "more"]
    await reader.close()


async def test_a_moved_file_is_complete_and_a_new_one_is_created(tmp_path):
    path = tmp_path / "sessions.db"
    service = SqliteSessionService(path)
    await service.create_session(**WHERE, session_id="old")
    path.rename(tmp_path / "elsewhere.db")
    await service.create_session(**WHERE, session_id="new")
    assert await session_ids(tmp_path / "elsewhere.db") == ["old"]
    assert await session_ids(path) == ["new"]
    await service.close()


async def test_a_removed_folder_is_an_error_until_it_exists_again(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    service = SqliteSessionService(folder / "sessions.db")
    await service.create_session(**WHERE)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with pytest.raises(Exception, match="unable to open database file"):
        await service.create_session(**WHERE)
    folder.mkdir()
    await service.create_session(**WHERE, session_id="s")
    assert await session_ids(folder / "sessions.db") == ["s"]
    await service.close()


async def test_memories_can_be_added_after_the_file_is_removed(tmp_path):
    path = tmp_path / "memories.db"
    service = SqliteMemoryService(path)
    event = Event(author="a", message="tea")
    await service.add_events_to_memory(**WHERE, events=[event])
    path.unlink()
    await service.add_events_to_memory(**WHERE, events=[event])
    other = SqliteMemoryService(path)
    response = await other.search_memory(**WHERE, query="tea")
    assert len(response.memories) == 1
    await other.close()
    await service.close()


async def test_a_database_in_memory_is_never_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (":memory:", "sqlite:///:memory:", "sqlite:///sessions.db?mode=memory"):
        service = SqliteSessionService(path)
        await service.create_session(**WHERE, session_id="s")
        assert await ids(service) == ["s"]
        await service.close()


async def test_a_relative_path_stays_valid_when_the_working_directory_changes(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    service = SqliteSessionService("sessions.db")
    await service.create_session(**WHERE, session_id="s")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert await ids(service) == ["s"]
    await service.close()


async def test_errors_name_the_file(tmp_path):
    await SqliteSessionService(tmp_path / "sessions.db").create_session(**WHERE)
    service = SqliteSessionService(f"sqlite:///{tmp_path / 'sessions.db'}?mode=ro")
    with pytest.raises(sqlite3.OperationalError, match="readonly") as error:
        await service.create_session(**WHERE)
    assert error.value.__notes__ == [f"Database file: {tmp_path / 'sessions.db'}."]


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
def test_forked_processes_write_to_the_same_file(tmp_path):
    command = [sys.executable, "-c", FORKING, str(tmp_path / "sessions.db")]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "closed\n"
    process.communicate(timeout=60)
    assert process.returncode == 0
    with sqlite3.connect(tmp_path / "sessions.db") as connection:
        query = "SELECT count(*) FROM events WHERE session_id LIKE 'copy %'"
        assert connection.execute(query).fetchone() == (25,)
    connection.close()


FORGETTING = """
import asyncio, gc, sys
from devui.runtime.sessions import SqliteSessionService

async def use():
    service = SqliteSessionService(sys.argv[1])
    await service.create_session(app_name="app", user_id="u")
    return service

asyncio.run(use())
gc.collect()
kept = asyncio.run(use())
"""


def test_a_service_that_is_never_closed_causes_no_warning(tmp_path):
    """Python 3.13 warns about connections that are still open."""
    command = [sys.executable, "-W", "always::ResourceWarning", "-c", FORGETTING]
    process = subprocess.run(
        [*command, str(tmp_path / "sessions.db")], cwd=ROOT, capture_output=True, text=True
    )
    assert (process.returncode, process.stderr) == (0, "")


async def test_memories_can_be_added_and_searched_concurrently(tmp_path):
    service = SqliteMemoryService(tmp_path / "below" / "sessions.db")

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
    with sqlite3.connect(tmp_path / "below" / "sessions.db") as connection:
        [count] = connection.execute("SELECT count(*) FROM memory_events").fetchone()
    connection.close()
    assert count == 160 * 20


def test_an_unknown_fts_setting_is_refused(tmp_path):
    with pytest.raises(ValueError, match="auto, on, off, not 'maybe'"):
        SqliteMemoryService(tmp_path / "sessions.db", fts="maybe")
