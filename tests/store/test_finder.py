"""Small reads on the event loop's thread are fast, and find what other reads find."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from devui.store.journal import Journal
from devui.store.sqlite.finder import Finder
from tests.store.kit import new_event

ROWS = (
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"
)


@pytest.fixture
def finder(tmp_path: Path) -> Iterator[Finder]:
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE texts (name TEXT PRIMARY KEY, text)")
        rows = [("short", "a"), ("long", "a" * 100_000), ("damaged", b"\xff")]
        connection.executemany("INSERT INTO texts VALUES (?, CAST(? AS TEXT))", rows)
        connection.commit()
        finder = Finder.open(path, sqlite3.Connection, ())
        assert finder is not None
        yield finder
        finder.close()


@pytest.mark.parametrize(
    ("sql", "value", "count"),
    [
        (ROWS, 64, 64),
        (ROWS, 65, None),
        (f"SELECT sum(i) FROM ({ROWS})", 10, 1),
        (f"SELECT sum(i) FROM ({ROWS})", 1_000_000, None),
        ("SELECT text FROM texts WHERE name = ?", "short", 1),
        ("SELECT text FROM texts WHERE name = ?", "long", None),
        ("SELECT text FROM texts WHERE name = ?", "damaged", None),
        ("SELECT text FROM texts WHERE name = ?", "a" * 100_000, None),
        ("SELECT nothing FROM texts WHERE name = ?", "short", None),
    ],
)
def test_the_finder_gives_up_on_large_slow_and_failing_reads(
    finder: Finder, sql: str, value: object, count: int | None
) -> None:
    rows = finder.rows(sql, [value])
    assert (rows if rows is None else len(rows)) == count


def test_an_abandoned_read_holds_no_snapshot(finder: Finder, tmp_path: Path) -> None:
    assert finder.rows("SELECT text FROM texts WHERE name = ?", ["damaged"]) is None
    with closing(sqlite3.connect(tmp_path / "some.db", timeout=0)) as connection:
        connection.execute("INSERT INTO texts VALUES ('new', 'b')")
        connection.commit()
    assert finder.rows("SELECT text FROM texts WHERE name = ?", ["new"]) == [("b",)]


def test_the_finder_does_not_wait_for_a_lock(finder: Finder, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert finder.rows("SELECT text FROM texts WHERE name = ?", ["short"]) is None


def test_there_is_no_finder_without_a_file(tmp_path: Path) -> None:
    first_read = ("PRAGMA schema_version",)
    assert Finder.open(tmp_path / "no folder" / "some.db", sqlite3.Connection, first_read) is None


@pytest.mark.parametrize("count", [1, 64, 65, 300])
async def test_a_read_sees_the_last_write(tmp_path: Path, count: int) -> None:
    async with await Journal.open(tmp_path / "data") as journal:
        session = await journal.sessions.create("app", "ada", "s1", {})
        for number in range(count):
            await journal.events.append(session.key, new_event(f"e{number}"), None)
            row = await journal.sessions.get(session.key)
            assert row is not None
            assert row.events == number + 1
        page = await journal.events.page(session.key, limit=60)
        assert [row.number for row in page] == list(range(max(0, count - 60) + 1, count + 1))


def test_a_short_statement_is_never_abandoned_however_often_it_runs(finder: Finder) -> None:
    sql = "SELECT text FROM texts WHERE name = ?"
    assert all(finder.rows(sql, ["short"]) for _ in range(5000))
