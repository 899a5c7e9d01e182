import asyncio
import contextlib
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devui.address import ServerAddress, read_address
from devui.keys import kept_key
from devui.store.errors import (
    FolderRefused,
    JournalClosed,
    JournalError,
    JournalForeign,
    JournalInUse,
    JournalNewer,
)
from devui.store.journal import Journal
from devui.store.sqlite.schema import Migration, load_migrations
from tests.kit.patience import PATIENCE
from tests.store.kit import append_many
from tests.store.test_kill import kill_at_random

HOLDER = """
import asyncio, pathlib, sys
from devui.store.journal import Journal
async def hold():
    journal = await Journal.open(pathlib.Path(sys.argv[1]))
    print("held", flush=True)
    await asyncio.Event().wait()
asyncio.run(hold())
"""

NOW = len(load_migrations())
NEXT = Migration(
    NOW + 1,
    f"BEGIN; CREATE TABLE extra (x ANY) STRICT; PRAGMA user_version = {NOW + 1}; COMMIT;",
)
BROKEN = Migration(NOW + 1, "BEGIN; CREATE TABLE extra (x ANY) STRICT; CREATE NONSENSE; COMMIT;")


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


async def fill(path: Path) -> bytes:
    """Create a journal with one session and a few events; return the content of its file."""
    async with await Journal.open(path) as journal:
        row = await journal.sessions.create("travel", "ada", "s1", {})
        await append_many(journal, row.key, 20)
    return (path / "journal.db").read_bytes()


def version_of(path: Path) -> int:
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        [(version,)] = connection.execute("PRAGMA user_version")
        return int(version)


@pytest.mark.req("R10")
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
async def test_only_the_owner_can_read_anything(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "deep" / "data"
    with umask(mask):
        async with await Journal.open(path) as journal:
            await journal.sessions.create("travel", "ada", "s1", {})
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()}
    assert files.keys() >= {"journal.db", "journal.db-wal", "journal.db-shm", "server.json"}
    assert set(files.values()) == {0o600}
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.mark.req("R10")
async def test_loosened_permissions_are_tightened_again(tmp_path: Path) -> None:
    await fill(tmp_path / "data")
    (tmp_path / "data").chmod(0o755)
    (tmp_path / "data" / "journal.db").chmod(0o644)
    async with await Journal.open(tmp_path / "data"):
        assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / "data" / "journal.db").stat().st_mode) == 0o600


@pytest.mark.req("R10")
async def test_a_folder_that_is_a_link_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").touch()
    with pytest.raises(FolderRefused, match="symbolic link"):
        await Journal.open(tmp_path / "link")
    with pytest.raises(FolderRefused, match="not a folder"):
        await Journal.open(tmp_path / "file")
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.req("R10")
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="needs root to give it away")
async def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    os.chown(tmp_path / "data", 12345, -1)
    with pytest.raises(FolderRefused, match="belongs to user 12345"):
        await Journal.open(tmp_path / "data")


async def test_git_ignores_only_a_folder_that_devui_created(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "ours"):
        assert (tmp_path / "ours" / ".gitignore").read_text() == "*\n"
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "work.py").touch()
    async with await Journal.open(tmp_path / "theirs"):
        assert not (tmp_path / "theirs" / ".gitignore").exists()


@pytest.mark.req("R39")
async def test_a_second_server_is_refused_and_told_about_the_first(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "data"):
        with pytest.raises(JournalInUse, match=f"process {os.getpid()}"):
            await Journal.open(tmp_path / "data")
    async with await Journal.open(tmp_path / "data") as again:
        assert await again.sessions.recent(1) == []


@pytest.mark.req("R39")
async def test_a_killed_server_leaves_the_folder_free(tmp_path: Path) -> None:
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(tmp_path / "data"), stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    try:
        assert await holder.stdout.readline() == b"held\n"
        with pytest.raises(JournalInUse, match=f"process {holder.pid}"):
            await Journal.open(tmp_path / "data")
    finally:
        holder.kill()
        await holder.wait()
    async with await Journal.open(tmp_path / "data") as journal:
        assert read_address(tmp_path / "data") == ServerAddress(pid=os.getpid())
        await journal.sessions.create("travel", "ada", "s1", {})


@pytest.mark.req("R40")
def test_an_open_journal_does_not_keep_the_interpreter_from_exiting(tmp_path: Path) -> None:
    code = (
        "import asyncio, pathlib, sys\n"
        "from devui.store.journal import Journal\n"
        "kept = asyncio.run(Journal.open(pathlib.Path(sys.argv[1])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data")], timeout=PATIENCE, check=False
    )
    assert done.returncode == 0


@pytest.mark.req("R46")
async def test_connections_have_the_required_settings(journal: Journal) -> None:
    expected = {
        "journal_mode": "wal",
        "synchronous": 2,
        "fullfsync": 1,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "trusted_schema": 0,
        "cell_size_check": 1,
        "mmap_size": 0,
        "application_id": 0x64767569,
    }
    database = journal._database

    def ask(connection: sqlite3.Connection) -> dict[str, object]:
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in expected}

    assert await database._writer.call(ask) == expected
    with pytest.raises(JournalError, match="readonly"):
        await database.fetch("DELETE FROM sessions")
    tables = await database.fetch("SELECT name FROM pragma_table_list WHERE type = 'table'")
    strict = await database.fetch("SELECT name FROM pragma_table_list WHERE strict")
    assert {name for (name,) in tables if not name.startswith("sqlite_")} == {n for (n,) in strict}


async def test_a_journal_keeps_its_id_and_its_seq(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "data") as journal:
        row = await journal.sessions.create("travel", "ada", "s1", {})
        first = journal.id
    async with await Journal.open(tmp_path / "data") as journal:
        assert journal.id == first
        assert await journal.head() == row.seq
        assert journal.path == tmp_path / "data"
        assert journal.set_aside is None
    async with await Journal.open(tmp_path / "other") as journal:
        assert journal.id != first


async def test_a_closed_journal_refuses_reads_and_changes(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "data")
    await journal.close()
    await journal.close()
    with pytest.raises(JournalClosed):
        await journal.sessions.create("travel", "ada", "s1", {})
    with pytest.raises(JournalClosed):
        await journal.sessions.recent(1)
    assert {f.name for f in (tmp_path / "data").iterdir()} == {
        ".gitignore",
        "journal.db",
        "journal.lock",
    }


@pytest.mark.req("R39")
async def test_closing_twice_does_not_release_the_lock_of_the_next_journal(tmp_path: Path) -> None:
    first = await Journal.open(tmp_path / "data")
    await first.close()
    async with await Journal.open(tmp_path / "data"):
        await first.close()
        with pytest.raises(JournalInUse, match=f"process {os.getpid()}"):
            await Journal.open(tmp_path / "data")


@pytest.mark.req("R39")
async def test_the_error_for_a_folder_in_use_names_its_server(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "data") as journal:
        journal.announce("http://127.0.0.1:8123", "a-key")
        with pytest.raises(JournalInUse, match=r"at http://127\.0\.0\.1:8123;"):
            await Journal.open(tmp_path / "data")
        address = read_address(tmp_path / "data")
        assert address == ServerAddress(os.getpid(), "http://127.0.0.1:8123")
        assert kept_key(tmp_path / "data", os.getpid()) == "a-key"
    assert read_address(tmp_path / "data") is None
    assert kept_key(tmp_path / "data", os.getpid()) == ""


@pytest.mark.req("R39")
@pytest.mark.parametrize("text", ["", "{", "7", '{"pid": "x"}', '{"pid": 1}', "\udcff"])
async def test_an_unreadable_address_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "server.json").write_text(text, errors="surrogateescape")
    assert read_address(tmp_path) is None


@pytest.mark.req("R39")
async def test_a_copied_journal_gets_an_id_of_its_own(tmp_path: Path) -> None:
    await fill(tmp_path / "data")
    async with await Journal.open(tmp_path / "data") as journal:
        shutil.copytree(tmp_path / "data", tmp_path / "copy")
        async with await Journal.open(tmp_path / "copy") as copy:
            assert copy.id != journal.id
            assert await copy.head() == await journal.head()
            await copy.sessions.create("travel", "ada", "only here", {})
        assert await journal.sessions.find("travel", "ada", "only here") is None
        first = journal.id
    async with await Journal.open(tmp_path / "data") as again:
        assert again.id == first


@pytest.mark.req("R39")
async def test_a_holder_without_a_pid_is_reported_as_another_process(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "data"):
        (tmp_path / "data" / "server.json").unlink()
        with pytest.raises(JournalInUse, match="another process"):
            await Journal.open(tmp_path / "data")


@pytest.mark.req("R44")
async def test_migrations_run_once(tmp_path: Path) -> None:
    await fill(tmp_path / "data")
    assert version_of(tmp_path / "data") == NOW
    async with await Journal.open(tmp_path / "data") as journal:
        assert len(await journal.sessions.recent(9)) == 1


@pytest.mark.req("R45")
@pytest.mark.req("R44")
async def test_an_old_journal_is_backed_up_and_migrated(tmp_path: Path) -> None:
    await fill(tmp_path / "data")
    async with await Journal.open(
        tmp_path / "data", migrations=[*load_migrations(), NEXT]
    ) as journal:
        assert len(await journal.sessions.recent(9)) == 1
    assert version_of(tmp_path / "data") == NOW + 1
    backup = tmp_path / "data" / f"journal.db.version-{NOW}"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    with contextlib.closing(sqlite3.connect(backup)) as copy:
        assert copy.execute("SELECT count(*) FROM events").fetchall() == [(20,)]
        assert copy.execute("PRAGMA user_version").fetchall() == [(NOW,)]


@pytest.mark.req("R45")
async def test_a_backup_includes_the_write_ahead_log(tmp_path: Path) -> None:
    """A killed server leaves its changes in the log; a copy of the file alone would lack them."""
    seen = kill_at_random(tmp_path / "data", 0, random.Random(45))
    assert (tmp_path / "data" / "journal.db-wal").stat().st_size > 0
    async with await Journal.open(tmp_path / "data", migrations=[*load_migrations(), NEXT]):
        backup = tmp_path / "data" / f"journal.db.version-{NOW}"
        with contextlib.closing(sqlite3.connect(backup)) as copy:
            rows = copy.execute("SELECT seq, number, id FROM events ORDER BY seq").fetchall()
            assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert set(seen) <= set(rows)
    assert [number for _, number, _ in rows] == list(range(1, len(rows) + 1))


@pytest.mark.req("R44")
async def test_a_migration_that_fails_leaves_the_old_version(tmp_path: Path) -> None:
    await fill(tmp_path / "data")
    with pytest.raises(JournalError, match="NONSENSE"):
        await Journal.open(tmp_path / "data", migrations=[*load_migrations(), BROKEN])
    async with await Journal.open(tmp_path / "data", migrations=[*load_migrations(), NEXT]):
        assert version_of(tmp_path / "data") == NOW + 1


@pytest.mark.req("R44")
async def test_a_journal_of_a_newer_version_is_refused_unchanged(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path / "data", migrations=[*load_migrations(), NEXT]):
        pass
    before = (tmp_path / "data" / "journal.db").read_bytes()
    with pytest.raises(JournalNewer, match=f"version {NOW + 1} and this devui knows {NOW}"):
        await Journal.open(tmp_path / "data")
    assert (tmp_path / "data" / "journal.db").read_bytes() == before


@pytest.mark.req("R43")
async def test_a_database_of_another_application_is_refused_unchanged(tmp_path: Path) -> None:
    for setup in ("CREATE TABLE t (x)", "PRAGMA application_id = 77"):
        path = tmp_path / str(len(setup))
        path.mkdir()
        with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
            connection.execute(setup)
        before = (path / "journal.db").read_bytes()
        with pytest.raises(JournalForeign, match="another application"):
            await Journal.open(path)
        assert (path / "journal.db").read_bytes() == before


@pytest.mark.req("R43")
async def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data" / "journal.db").mkdir(parents=True)
    with pytest.raises(JournalForeign, match="not a plain file"):
        await Journal.open(tmp_path / "data")


@pytest.mark.req("R43")
async def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "journal.db").touch()
    async with await Journal.open(tmp_path / "data") as journal:
        assert journal.set_aside is None
        await journal.sessions.create("travel", "ada", "s1", {})
