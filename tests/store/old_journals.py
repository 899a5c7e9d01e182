"""Journals of old versions: derived from a current one, or restored from a stored dump per version.

`python -m tests.store.old_journals` stores a dump of each version that has none, such as a new one.
Existing dumps are never overwritten: they are what a journal of that version was.
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
"""The version that moved the contents of files to a table of their own."""


async def lived_in(path: Path) -> Path:
    """Create a journal with rows in most of its tables."""
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
    """Return the columns of every table."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    names = [name for (name,) in rows if not name.startswith("sqlite_")]
    columns = "SELECT name FROM pragma_table_info(?)"
    return {name: [row[0] for row in connection.execute(columns, [name])] for name in names}


def of_version(version: int, new: Path, path: Path) -> Path:
    """Create the journal that this version would have written with the content of `new`."""
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
    """Return a journal as SQL text, with the two numbers that SQLite's dump leaves out."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        numbers = ("application_id", "user_version")
        values = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in numbers}
        lines = [*(f"PRAGMA {name} = {value};" for name, value in values.items())]
        return "\n".join([*lines, *connection.iterdump(), ""])


def kept(version: int) -> Path:
    """Return the path of that version's dump."""
    return KEPT / f"version-{version:04}.sql"


def restored(version: int, path: Path) -> Path:
    """Restore the dump of that version into a data folder."""
    path.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        connection.executescript(kept(version).read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    (path / "journal.db").chmod(0o600)
    return path


def missing() -> Iterator[int]:
    """Return the versions without a dump."""
    return (version for version in range(1, NOW + 1) if not kept(version).exists())


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        new = await lived_in(Path(folder) / "new")
        for version in missing():
            path = of_version(version, new, Path(folder) / str(version))
            kept(version).write_text(dump(path / "journal.db"), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
