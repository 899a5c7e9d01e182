"""Whose file it is, whether it is whole, and how an old one becomes a new one.

A file is looked at through a read-only connection before anything may write to it (R43). Damaged
ones are set aside untouched, foreign and newer ones are refused; none is ever overwritten.
Migrations are numbered, append-only, one transaction each, with a backup first (R44).
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
"""Where the log's header tells it; 1 stands for 65,536 there."""
_LARGEST_PAGE = 65_536
_LOG_FILES = ("", "-wal", "-shm")


def beside(path: Path, suffix: str) -> Path:
    """The file of this suffix that SQLite keeps beside a database."""
    return path.with_name(path.name + suffix)


def lost_its_file(path: Path) -> bool:
    """Whether the journal is gone or empty, and its log holds something."""
    log = beside(path, "-wal")
    empty = not path.exists() or (path.is_file() and path.stat().st_size == 0)
    return empty and log.is_file() and log.stat().st_size > 0


def rebuild(path: Path) -> Path:
    """Make a database of what the log of `path` holds, and return its file.

    Pages that the log does not hold are empty: it has to be checked. The log stays as it is.
    Raises sqlite3.Error, OSError; `discard` takes away what was made.
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
    """An empty page: beside a file that has one, SQLite reads the log."""
    with log.open("rb") as file:
        size = int.from_bytes(file.read(32)[_PAGE_SIZE], "big")
    return bytes(size if 512 <= size <= _LARGEST_PAGE else _LARGEST_PAGE)


def discard(path: Path) -> None:
    """Take a database away that was made here."""
    for suffix in _LOG_FILES:
        beside(path, suffix).unlink(missing_ok=True)


_LOG = logging.getLogger(__name__)

APPLICATION_ID = 0x64767569
"""The letters "dvui" in the file's header."""

_OLDEST_SQLITE = (3, 37, 0)
"""STRICT tables came with it."""

_QUICK_CHECK_LIMIT = 256 * 1024 * 1024
"""Bytes. Checking takes about 0.4 s per GiB from a warm cache but reads the whole file from a cold
one; start-up may not wait for that, so larger journals are opened unchecked."""

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
    """A whole transaction, with `PRAGMA user_version` as its own record in it."""


class OldVersion(Exception):
    """A journal that nobody reads before it is brought up to date."""


def load_migrations() -> tuple[Migration, ...]:
    """Read the numbered `.sql` files of this package, in order."""
    folder = resources.files("devui.store") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")),
        key=lambda file: file.name,
    )
    return tuple(Migration(int(file.name.split("_")[0]), file.read_text("utf-8")) for file in files)


class SetAside(NamedTuple):
    """A journal that could not be used as it was."""

    path: Path
    recovered: bool
    """Everything in it is in the one that took its place."""


def inspect(path: Path, newest: int) -> SetAside | None:
    """Make sure that the file may be opened for writing, and exists.

    Returns what was set aside, None when there was nothing to set aside. Raises JournalForeign or
    JournalNewer for a file that is somebody else's or too new for this version, other JournalErrors
    and OSError where the disk keeps it from doing so.
    """
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise JournalError(
            f"this Python brings SQLite {sqlite3.sqlite_version}; the journal needs 3.37 or newer"
        )
    _require_fts5()
    aside = None
    if path.is_symlink() or path.exists():
        _require_plain(path)
    if lost_its_file(path):
        aside = _recover(path, newest)
        how = "recovered whole from its log" if aside.recovered else "not whole in its log"
        _LOG.warning("%s is missing or empty; it is %s, kept as %s", path, how, aside.path)
    elif path.exists() and path.stat().st_size > 0:
        try:
            examine(path, newest, is_ours=True)
        except JournalDamaged as error:
            aside = SetAside(_set_aside(path), recovered=False)
            cause = error.__cause__ or error
            _LOG.warning("damaged: %s; set aside as %s, a new journal begins", cause, aside.path)
    if not path.exists():
        create_private(path)
    return aside


def examine(path: Path, newest: int, *, is_ours: bool = False) -> None:
    """Raise unless the file is a journal that this version may open; nothing is written.

    The folder `is_ours` if this process has its lock.

    Raises JournalForeign, JournalNewer, JournalDamaged, or another JournalError when it cannot be
    read at all.
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
    """Open a database so that nothing is changed; raises sqlite3.Error.

    Whoever writes to one keeps a log beside it. Where there is none, nobody does, and SQLite is
    told to make none either. If the folder `is_ours`, nobody does where there is an empty one.
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
    """Write our application id into a new file's header, before anything else is in it."""
    if _number(connection, _OWNER) != APPLICATION_ID:
        connection.execute(_MARK)


def check(connection: sqlite3.Connection, path: Path) -> None:
    """Raise JournalDamaged unless SQLite's quick check finds the database whole."""
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


def _recover(path: Path, newest: int) -> SetAside:
    """Make the journal anew of its log, if all of it is there; keep the log in any case.

    Whenever this is cut off, the log is still beside the journal, or all of it is in the journal.
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
    return SetAside(aside, recovered)


def _set_aside(path: Path) -> Path:
    """Rename the file and its companions; SQLite's tools open the result under its new name."""
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
    """Bring the database to the newest version; each step happens wholly or not at all."""
    version = _number(connection, _VERSION)
    pending = [migration for migration in migrations if migration.version > version]
    if version > 0 and pending:
        _back_up(connection, path, version)
    for migration in pending:
        with rolled_back(connection):
            connection.executescript(migration.sql)


def require(newest: int, connection: sqlite3.Connection) -> None:
    """Raise OldVersion for a journal of an older version, sqlite3.Error for a file with nothing."""
    version = _number(connection, _VERSION)
    if version == 0:
        raise sqlite3.OperationalError("there is nothing in it yet")
    if version != newest:
        raise OldVersion(
            f"It is of version {version}, which this devui brings up to date before it shows it"
        )


@contextmanager
def rolled_back(connection: sqlite3.Connection) -> Iterator[None]:
    """Leave no transaction open: whatever was not committed inside is undone."""
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _back_up(connection: sqlite3.Connection, path: Path, version: int) -> None:
    target = path.with_name(f"{path.name}.version-{version}")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)  # of a copy that was killed
    create_private(part)
    try:
        with closing(sqlite3.connect(part)) as copy:
            connection.backup(copy)
        part.replace(target)
    except (sqlite3.Error, OSError):
        part.unlink(missing_ok=True)  # half a copy takes room
        raise


def _number(connection: sqlite3.Connection, query: str) -> int:
    [(value,)] = connection.execute(query)
    return int(value)
