"""A copy of a journal that somebody may be writing to (R45).

Copying the file alone would lose what is still in the log beside it; SQLite's backup takes both, as
they are at one moment, and holds nobody up.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from devui.address import PRIVATE_FOLDER, create_private
from devui.store.errors import FolderRefused, from_sqlite
from devui.store.folder import DATABASE
from devui.store.schema import examine, load_migrations, read_only


def back_up(folder: Path, target: Path) -> Path:
    """Copy the journal of a data folder into a new one; return the copy's file.

    The copy is a journal of its own: a server on it is told from one on the first. Raises
    FolderRefused for a target that holds something, JournalErrors for a journal that is none or
    cannot be read.
    """
    source = folder / DATABASE
    examine(source, load_migrations()[-1].version)
    try:
        target.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise FolderRefused(f"{str(target)!r} is not empty: name a folder that is, or none yet")
        target.chmod(PRIVATE_FOLDER)
        create_private(target / DATABASE)
    except OSError as error:
        raise FolderRefused(f"{str(target)!r} cannot be made: {error.strerror}") from error
    try:
        with (
            closing(read_only(source)) as journal,
            closing(sqlite3.connect(target / DATABASE)) as copy,
        ):
            journal.backup(copy)
    except sqlite3.Error as error:
        raise from_sqlite(error, str(source)) from error
    return target / DATABASE
