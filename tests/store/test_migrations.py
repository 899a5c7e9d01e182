"""Journals of every version that there was are brought up to date, whatever comes between (R44)."""

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

from devui.store import Journal, JournalError
from devui.store.checkup import check_journal
from devui.store.schema import load_migrations
from tests.store.kit import MEMORY_DISK, append_many, error_of, new_event

pytestmark = pytest.mark.req("R44")

STEPS = load_migrations()
NOW = STEPS[-1].version
OLD = range(1, NOW)
WRITTEN = {"n": 1, "app:rate": 2}
FILES_WITH_CONTENTS = 9
"""The version in which what is in a file moved to a table of its own."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK) as path:
        Path(path).chmod(0o700)
        yield Path(path)


async def lived_in(path: Path) -> Path:
    """A journal with something in most of its tables."""
    async with await Journal.open(path) as journal:
        for user in ("ada", "bob"):
            row = await journal.sessions.create("travel", user, "s1", {"user:name": user, "n": 0})
            await append_many(journal, row.key, 9, **WRITTEN)
            await journal.events.append(row.key, new_event("gone", n=None), None)
            await journal.events.add_chunks(row.key, None, [("e1", "{}"), ("e4", "{}")])
            await journal.runs.start(f"run of {user}", row.key, "i1")
            await journal.runs.change(f"run of {user}", "done")
            for text in ("first", "second"):
                owner = ("travel", user, "s1", "a.txt")
                await journal.artifacts.save(*owner, mime="text/plain", text=text)
    return path


def delta_of(data: str) -> dict[str, Any]:
    return {"n": None} if json.loads(data)["id"] == "gone" else WRITTEN


def tables_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of every table."""
    listed = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [name for (name,) in listed if not name.startswith("sqlite_")]
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: [row[0] for row in connection.execute(columns, [name])] for name in names}


def of_version(version: int, new: Path, path: Path) -> Path:
    """What the journal in `new` would have been, had it been written by that version."""
    path.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        connection.execute("PRAGMA application_id = 0x64767569")
        connection.execute("PRAGMA journal_mode = WAL")
        for step in STEPS[:version]:
            connection.executescript(step.sql)
        connection.execute("ATTACH ? AS new", [str(new / "journal.db")])
        for table, columns in tables_of(connection).items():
            source = f"new.{table}"
            if table == "artifacts" and version < FILES_WITH_CONTENTS:
                source = "new.artifacts AS a JOIN new.contents AS c ON a.content = c.id"
                columns = [f"a.{each}" for each in columns if each not in {"text", "data"}]
                columns += ["text", "data"]
            names = ", ".join(each.removeprefix("a.") for each in columns)
            values = ", ".join(columns)
            connection.execute(f"REPLACE INTO {table} ({names}) SELECT {values} FROM {source}")
        connection.commit()
    (path / "journal.db").chmod(0o600)
    return path


def content(path: Path) -> dict[str, list[Any]]:
    """Every row of a journal's file."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        tables = tables_of(connection)
        return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}


def shape(path: Path) -> tuple[int, set[tuple[str, ...]]]:
    """Version and schema."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        [(version,)] = connection.execute("PRAGMA user_version")
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return version, set(connection.execute("SELECT name, sql FROM sqlite_schema"))


@functools.cache
def shapes() -> dict[int, set[tuple[str, ...]]]:
    """The schema of every version."""
    found = {}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for step in STEPS:
            connection.executescript(step.sql)
            found[step.version] = set(connection.execute("SELECT name, sql FROM sqlite_schema"))
    return found


async def opened_and_whole(path: Path) -> None:
    """It opens, for the first time and the second, and the doctor finds nothing."""
    for _ in range(2):
        async with await Journal.open(path) as journal:
            assert journal.set_aside is None
    assert check_journal(path / "journal.db", delta_of).faults == []
    assert shape(path / "journal.db") == (NOW, shapes()[NOW])


async def test_every_old_version_becomes_the_present_one_and_keeps_everything(folder):
    new = await lived_in(folder / "new")
    for version in OLD:
        path = of_version(version, new, folder / str(version))
        before = content(path / "journal.db")
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
        assert content(path / f"journal.db.version-{version}") == before


async def test_a_migration_that_is_killed_is_taken_up_by_the_next_start(folder):
    new = await lived_in(folder / "new")
    old = of_version(1, new, folder / "old")
    (folder / "killed").mkdir()
    command = [sys.executable, "-m", "tests.store.migrator", str(old), str(folder / "killed")]
    await asyncio.to_thread(subprocess.run, command, check=True)
    copies = sorted((folder / "killed").iterdir(), key=lambda path: int(path.name))
    known, seen = shapes(), set()
    for path in copies:
        version, schema = shape(path / "journal.db")
        assert schema == known[version], "between two versions"
        seen.add(version)
        if version > 1:
            assert content(path / "journal.db.version-1") == content(old / "journal.db")
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
    assert seen == {*OLD, NOW}


class Crowded(sqlite3.Connection):
    """A disk with room for so many pages."""

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


async def test_a_disk_that_fills_up_leaves_a_whole_version_behind(folder):
    new = await lived_in(folder / "new")
    old = of_version(1, new, folder / "old")
    known, failed = shapes(), set()
    [(pages,)] = pages_of(old)
    for more in range(0, 60, 4):
        path = Path(shutil.copytree(old, folder / f"full-{more}"))
        Crowded.pages = pages + more
        with contextlib.suppress(JournalError):
            await (await Journal.open(path, factory=Crowded)).close()
        version, schema = shape(path / "journal.db")
        assert schema == known[version]
        failed.add(version)
        await opened_and_whole(path)
        assert content(path / "journal.db") == content(new / "journal.db")
    assert len(failed) > 2, "it never was full on the way"


async def test_nothing_is_migrated_that_cannot_be_backed_up_first(folder):
    old = of_version(1, await lived_in(folder / "new"), folder / "old")
    before = content(old / "journal.db")
    with pytest.raises(JournalError):
        await Journal.open(old, factory=Unsaved)
    assert content(old / "journal.db") == before
    await opened_and_whole(old)
    assert content(old / "journal.db.version-1") == before


def pages_of(path: Path) -> list[tuple[int]]:
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        return connection.execute("PRAGMA page_count").fetchall()
