"""Journals of all previous versions are migrated, even after interruptions and failures (R44)."""

import asyncio
import contextlib
import functools
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devui.store.errors import JournalError, JournalFull
from devui.store.journal import Journal
from devui.store.sqlite.checkup import check_journal
from tests.store.kit import MEMORY_DISK, error_of
from tests.store.old_journals import (
    NOW,
    STEPS,
    WRITTEN,
    lived_in,
    missing,
    of_version,
    restored,
    tables_of,
)

pytestmark = pytest.mark.req("R44")

OLD = range(1, NOW)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as path:
        Path(path).chmod(0o700)
        yield Path(path)


def delta_of(data: str) -> dict[str, Any]:
    return {"n": None} if json.loads(data)["id"] == "gone" else WRITTEN


def content(path: Path) -> dict[str, list[Any]]:
    """Return every row of a journal without checksums, which events of old versions lack."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        rows = {}
        for table, columns in tables_of(connection).items():
            names = ", ".join(each for each in columns if each != "checksum")
            rows[table] = connection.execute(f"SELECT {names} FROM {table}").fetchall()
        return rows


def shape(path: Path) -> tuple[int, set[tuple[str, ...]]]:
    """Return the version and the schema."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        [(version,)] = connection.execute("PRAGMA user_version")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return version, set(connection.execute("SELECT name, sql FROM sqlite_schema"))


@functools.cache
def shapes() -> dict[int, set[tuple[str, ...]]]:
    """Return the schema of every version."""
    schemas = {}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for step in STEPS:
            connection.executescript(step.sql)
            schemas[step.version] = set(connection.execute("SELECT name, sql FROM sqlite_schema"))
    return schemas


async def opened_and_whole(path: Path) -> None:
    """Assert that the journal opens twice, is sound, and has the current schema."""
    for _ in range(2):
        async with await Journal.open(path) as journal:
            assert journal.set_aside is None
    assert check_journal(path / "journal.db", delta_of).faults == []
    assert shape(path / "journal.db") == (NOW, shapes()[NOW])


async def visible_rows(path: Path) -> list[Any]:
    """Return what users can see of a journal."""
    async with await Journal.open(path) as journal:
        seen: list[Any] = []
        for session in reversed(await journal.sessions.list("travel")):
            events = await journal.events.following(session.key, 0, 100)
            seen.append((session.app, session.user, session.id, session.title, session.events))
            seen.append([(row.number, row.author, event.text) for row, event in events])
            seen.append(await journal.state.merged(session.key))
            seen.append(await journal.events.chunks(session.key, "e4"))
            seen.append([(run.id, run.status) for run in await journal.runs.list(session.key)])
            for version in (0, 1):
                owner = (session.app, session.user, session.id)
                file = await journal.artifacts.load(*owner, "a.txt", version=version)
                seen.append(file and (file.row.mime, file.text))
        return seen


def test_a_journal_of_every_version_is_kept():
    assert list(missing()) == [], "keep it: python -m tests.store.old_journals"


async def test_a_kept_journal_has_its_versions_schema_and_the_same_content(folder):
    expected = await visible_rows(await lived_in(folder / "new"))
    assert [row[1] for row in expected[::7]] == ["ada", "bob"]
    for version in range(1, NOW + 1):
        path = restored(version, folder / str(version))
        assert shape(path / "journal.db") == (version, shapes()[version]), "a migration changed"
        await opened_and_whole(path)
        assert await visible_rows(path) == expected
        assert (path / f"journal.db.version-{version}").exists() is (version < NOW)


async def test_every_old_version_is_migrated_without_losing_anything(folder):
    new = await lived_in(folder / "new")
    for version in OLD:
        path = of_version(version, new, folder / str(version))
        before = content(path / "journal.db")
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
        assert content(path / f"journal.db.version-{version}") == before


@pytest.mark.slow
async def test_a_killed_migration_is_completed_by_the_next_start(folder):
    new = await lived_in(folder / "new")
    old = of_version(1, new, folder / "old")
    (folder / "killed").mkdir()
    command = [sys.executable, "-m", "tests.store.migrator", str(old), str(folder / "killed")]
    await asyncio.to_thread(subprocess.run, command, check=True)
    copies = sorted((folder / "killed").iterdir(), key=lambda path: int(path.name))
    schemas, seen = shapes(), set()
    for path in copies:
        version, schema = shape(path / "journal.db")
        assert schema == schemas[version], "between two versions"
        seen.add(version)
        if version > 1:
            assert content(path / "journal.db.version-1") == content(old / "journal.db")
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
    assert seen == {*OLD, NOW}


class Crowded(sqlite3.Connection):
    """A database on a disk with room for `pages` pages."""

    pages = 0

    def executescript(self, script: str) -> sqlite3.Cursor:
        self.execute(f"PRAGMA max_page_count = {self.pages}")
        return super().executescript(script)


class Unsaved(sqlite3.Connection):
    """A disk that is full after the first page of a backup."""

    def backup(self, target: sqlite3.Connection, **_: Any) -> None:
        def full(*_: int) -> None:
            raise error_of(sqlite3.SQLITE_FULL)

        super().backup(target, pages=1, progress=full)


async def test_a_disk_that_fills_up_leaves_a_complete_version(folder):
    new = await lived_in(folder / "new")
    old = of_version(1, new, folder / "old")
    schemas, failed = shapes(), set()
    [(pages,)] = pages_of(old)
    for more in range(0, 60, 4):
        path = Path(shutil.copytree(old, folder / f"full-{more}"))
        Crowded.pages = pages + more
        with contextlib.suppress(JournalError):
            await (await Journal.open(path, factory=Crowded)).close()
        version, schema = shape(path / "journal.db")
        assert schema == schemas[version]
        failed.add(version)
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
    assert len(failed) > 2, "it never was full on the way"


async def test_a_journal_that_cannot_be_backed_up_is_not_migrated(folder):
    old = of_version(1, await lived_in(folder / "new"), folder / "old")
    before = content(old / "journal.db")
    message = "make room on the disk.* It has version 1, which this devui must upgrade before"
    with pytest.raises(JournalFull, match=message):
        await Journal.open(old, factory=Unsaved)
    assert [*old.glob("journal.db.version-1*")] == []
    assert content(old / "journal.db") == before
    await opened_and_whole(old)
    assert content(old / "journal.db.version-1") == before


def pages_of(path: Path) -> list[tuple[int]]:
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        return connection.execute("PRAGMA page_count").fetchall()
