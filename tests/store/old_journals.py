"""Journals of old versions: made of the present one, and kept as files, one for each version.

`python -m tests.store.old_journals` keeps the present version, when it has changed. What has been
kept is never written again: it is what a journal of that version was.
"""

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from devui.store.journal import Journal
from devui.store.sqlite.schema import load_migrations
from tests.store.kit import append_many, new_event

STEPS = load_migrations()
NOW = STEPS[-1].version
WRITTEN = {"n": 1, "app:rate": 2}
KEPT = Path(__file__).parent / "kept"
FILES_WITH_CONTENTS = 9
"""The version in which what is in a file moved to a table of its own."""


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


def tables_of(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of every table."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [name for (name,) in rows if not name.startswith("sqlite_")]
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


def dump(path: Path) -> str:
    """A journal's file as SQL text, with the two numbers that no dump of SQLite has."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        numbers = ("application_id", "user_version")
        values = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in numbers}
        lines = [*(f"PRAGMA {name} = {value};" for name, value in values.items())]
        return "\n".join([*lines, *connection.iterdump(), ""])


def kept(version: int) -> Path:
    """Where the journal of that version is kept."""
    return KEPT / f"version-{version:04}.sql"


def restored(version: int, path: Path) -> Path:
    """The kept journal of that version as a data folder."""
    path.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        connection.executescript(kept(version).read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    (path / "journal.db").chmod(0o600)
    return path


def missing() -> Iterator[int]:
    """The versions that are not kept."""
    return (version for version in range(1, NOW + 1) if not kept(version).exists())


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        new = await lived_in(Path(folder) / "new")
        for version in missing():
            path = of_version(version, new, Path(folder) / str(version))
            kept(version).write_text(dump(path / "journal.db"), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
