"""Checks of a journal file before it is opened, recovery of damaged ones, and migrations.

A file is examined through a read-only connection before anything may write to it (R43). Damaged
files are set aside untouched, foreign and newer ones are refused; none is ever overwritten.
Migrations are numbered and append-only; each is one transaction, and a backup is made first (R44).
"""

import logging
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from devui.address import create_private
from devui.store.errors import (
    JournalDamaged,
    JournalError,
    JournalForeign,
    JournalNewer,
    from_sqlite,
)

_PAGE_SIZE = slice(8, 12)
"""The bytes of the log's header with the page size; 1 stands for 65,536."""
_LARGEST_PAGE = 65_536
_LOG_FILES = ("", "-wal", "-shm")


def beside(path: Path, suffix: str) -> Path:
    """Return the path of the file with this suffix that SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def lost_its_file(path: Path) -> bool:
    """Return whether the journal is missing or empty while its log has content."""
    log = beside(path, "-wal")
    empty = not path.exists() or (path.is_file() and path.stat().st_size == 0)
    return empty and log.is_file() and log.stat().st_size > 0


def rebuild(path: Path) -> Path:
    """Build a database from the log of `path`, and return its path.

    The caller must check it, since pages missing from the log are empty. The log isn't changed.
    Raises sqlite3.Error, OSError; use `discard` to remove the result.
    """
    log, copy = beside(path, "-wal"), beside(path, ".recovered")
    discard(copy)
    create_private(copy)
    copy.write_bytes(blank(log))
    create_private(beside(copy, "-wal"))
    shutil.copyfile(log, beside(copy, "-wal"))
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return copy


def blank(log: Path) -> bytes:
    """Return an empty page; SQLite only reads a log beside a file with at least one page."""
    with log.open("rb") as file:
        size = int.from_bytes(file.read(32)[_PAGE_SIZE], "big")
    return bytes(size if 512 <= size <= _LARGEST_PAGE else _LARGEST_PAGE)


def discard(path: Path) -> None:
    """Delete a database that `rebuild` made."""
    for suffix in _LOG_FILES:
        beside(path, suffix).unlink(missing_ok=True)


_LOG = logging.getLogger(__name__)

APPLICATION_ID = 0x64767569
"""The letters "dvui" in the file's header."""

_OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""

_QUICK_CHECK_LIMIT = 256 * 1024 * 1024
"""In bytes. A check takes about 0.4 s per GiB with a warm cache, but reads the whole file from disk
with a cold one. Start-up must not wait for that, so larger journals are opened unchecked."""

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_HEADER_APPLICATION_ID = slice(68, 72)
_COMPANIONS = ("", "-wal", "-shm", "-journal")
_LOGS = ("-wal", "-journal")

_TABLES = "SELECT count(*) FROM sqlite_schema"
_VERSION = "PRAGMA user_version"
_OWNER = "PRAGMA application_id"
_MARK = "PRAGMA application_id = 0x64767569"
_CHECK = "PRAGMA quick_check(1)"


@dataclass(frozen=True, slots=True)
class Migration:
    version: int
    sql: str
    """A complete transaction, which also sets `PRAGMA user_version` to the version."""


class OldVersion(Exception):
    """The journal must be migrated before it can be read."""


def load_migrations() -> tuple[Migration, ...]:
    """Return the migrations in `devui/store/migrations`, in order."""
    folder = resources.files("devui.store") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return tuple(Migration(int(file.name.split("_")[0]), file.read_text("utf-8")) for file in files)


class ReplacedJournal(NamedTuple):
    """A journal that was set aside because it couldn't be used."""

    path: Path
    recovered: bool
    """Whether the journal that replaced it has everything that was in it."""


def inspect(path: Path, newest: int) -> ReplacedJournal | None:
    """Make sure that the journal exists and may be opened for writing.

    Returns the journal that was set aside, if any. Raises JournalForeign for another application's
    file, JournalNewer for a version that this devui doesn't know, and other JournalErrors or
    OSError if the file can't be read, made or moved.
    """
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise JournalError(
            f"this Python brings SQLite {sqlite3.sqlite_version}; the journal needs 3.37 or newer"
        )
    _require_fts5()
    replaced = None
    if path.is_symlink() or path.exists():
        _require_plain(path)
    if lost_its_file(path):
        replaced = _recover(path, newest)
        how = "fully recovered from its log" if replaced.recovered else "not complete in its log"
        _LOG.warning("%s was missing or empty; it is %s, and kept as %s", path, how, replaced.path)
    elif path.exists() and path.stat().st_size > 0:
        try:
            examine(path, newest, is_ours=True)
        except JournalDamaged as error:
            replaced = ReplacedJournal(_set_aside(path), recovered=False)
            cause = error.__cause__ or error
            _LOG.warning(
                "damaged: %s; set aside as %s, starting a new journal", cause, replaced.path
            )
    if not path.exists():
        create_private(path)
    return replaced


def examine(path: Path, newest: int, *, is_ours: bool = False) -> None:
    """Raise unless the file is a journal that this version may open; writes nothing.

    `is_ours` says that this process holds the folder's lock. Raises JournalForeign, JournalNewer,
    JournalDamaged, or another JournalError if the file can't be read.
    """
    _require_plain(path)
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise JournalDamaged(f"{str(path)!r} is not an SQLite database")
    _check_owner(path, int.from_bytes(header[_HEADER_APPLICATION_ID], "big"), tables=1)
    try:
        with closing(read_only(path, is_ours=is_ours)) as connection:
            _examine_inside(path, connection, newest)
    except sqlite3.Error as error:
        raise from_sqlite(error, str(path)) from error
    except UnicodeDecodeError as error:  # SQLite quotes the damage in its message
        raise JournalDamaged(f"the schema of {str(path)!r} is no text") from error


def _require_fts5() -> None:
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text)")
    except sqlite3.OperationalError as error:
        raise JournalError(
            f"this Python's SQLite {sqlite3.sqlite_version} can't search texts ({error}); "
            "run devui with a Python whose SQLite has FTS5, as that of python.org does"
        ) from error


def _require_plain(path: Path) -> None:
    if path.is_symlink() or not path.is_file():
        raise JournalForeign(f"{str(path)!r} is not a plain file; move it away and start again")


def read_only(
    path: Path, factory: type[sqlite3.Connection] = sqlite3.Connection, *, is_ours: bool = False
) -> sqlite3.Connection:
    """Open a database without changing anything on disk; raises sqlite3.Error.

    A writer keeps a log beside the database. If there is none, nobody is writing, and SQLite is
    told not to create one either. If `is_ours` (this process holds the folder's lock), an empty log
    also means that nobody is writing.
    """
    logs = [path.with_name(path.name + suffix) for suffix in _LOGS]
    has_log = any(log.exists() and not (is_ours and log.stat().st_size == 0) for log in logs)
    uri = f"{path.absolute().as_uri()}?{'mode=ro' if has_log else 'immutable=1'}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, factory=factory)


def _examine_inside(path: Path, connection: sqlite3.Connection, newest: int) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    [(tables,)] = connection.execute(_TABLES)
    _check_owner(path, _number(connection, _OWNER), tables)
    version = _number(connection, _VERSION)
    if version > newest:
        raise JournalNewer(
            f"the journal {str(path)!r} has version {version} and this devui knows {newest} at "
            "most; use the newer devui that wrote it, or another folder with --data-dir"
        )
    if path.stat().st_size > _QUICK_CHECK_LIMIT:
        _LOG.info("%s is large; it is opened without a check", path)
    else:
        check(connection, path)


def mark(connection: sqlite3.Connection) -> None:
    """Write our application id into the header of a new file, before its first content."""
    if _number(connection, _OWNER) != APPLICATION_ID:
        connection.execute(_MARK)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise JournalDamaged unless the database passes SQLite's quick check."""
    findings = [str(row[0]) for row in connection.execute(_CHECK)]
    if findings != ["ok"]:
        raise JournalDamaged(f"{str(path)!r} is damaged: {findings[0]}")


def _check_owner(path: Path, application_id: int, tables: int) -> None:
    if application_id == APPLICATION_ID or (application_id == 0 and tables == 0):
        return
    suffix = f" (id {application_id:#x})" if application_id else ""
    raise JournalForeign(
        f"{str(path)!r} belongs to another application{suffix}; nothing in it was changed. "
        "Choose another folder with --data-dir"
    )


def _recover(path: Path, newest: int) -> ReplacedJournal:
    """Rebuild the journal from its log if the log is complete; keep the log in any case.

    If this is interrupted at any point, either the log is still beside the journal, or the journal
    has all of its contents.
    """
    log, recovered = beside(path, "-wal"), False
    try:
        copy = rebuild(path)
        examine(copy, newest, is_ours=True)
        with closing(read_only(copy, is_ours=True)) as connection:
            check(connection, copy)
            recovered = _number(connection, _OWNER) == APPLICATION_ID
    except JournalDamaged as error:
        _LOG.warning("not all of %s is in its log: %s", path, error)
    except sqlite3.Error as error:
        damage = from_sqlite(error, str(path))
        if not isinstance(damage, JournalDamaged):
            raise damage from error
    finally:
        if not recovered:
            discard(beside(path, ".recovered"))
    aside = _place_aside(path)
    create_private(aside)
    aside.write_bytes(blank(log))
    if recovered:
        copy.replace(path)
    log.rename(beside(aside, "-wal"))
    beside(path, "-shm").unlink(missing_ok=True)
    return ReplacedJournal(aside, recovered)


def _set_aside(path: Path) -> Path:
    """Rename the file and its companions, so that SQLite's tools can open it under its new name."""
    aside = _place_aside(path)
    for suffix in _COMPANIONS:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + suffix))
    return aside


def _place_aside(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside = path.with_name(f"{path.name}.damaged-{stamp}")
    attempt = 1
    while aside.exists():
        attempt += 1
        aside = path.with_name(f"{path.name}.damaged-{stamp}-{attempt}")
    return aside


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Migrate the database to the newest version, each step in one transaction."""
    version = _number(connection, _VERSION)
    pending = [migration for migration in migrations if migration.version > version]
    if version > 0 and pending:
        _back_up(connection, path, version)
    for migration in pending:
        with rolled_back(connection):
            connection.executescript(migration.sql)


def require(newest: int, connection: sqlite3.Connection) -> None:
    """Raise OldVersion for a journal of another version, sqlite3.Error for one without content."""
    version = _number(connection, _VERSION)
    if version == 0:
        raise sqlite3.OperationalError("it is empty")
    if version != newest:
        raise OldVersion(
            f"It has version {version}, which this devui must upgrade before showing it"
        )


@contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    """Roll back any transaction left open in the block."""
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> None:
    target = path.with_name(f"{path.name}.version-{version}")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)  # left over if an earlier backup was killed
    create_private(part)
    try:
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
        part.replace(target)
    except (sqlite3.Error, OSError):
        part.unlink(missing_ok=True)  # an incomplete copy only takes up space
        raise


def _number(connection: sqlite3.Connection, query: str) -> int:
    [(value,)] = connection.execute(query)
    return int(value)
