"""Migrates copies of a journal and kills each migration at a different statement, for a test.

`python -m tests.store.migrator JOURNAL FOLDER`: the process that migrated copy n, in FOLDER/n, was
killed before statement n. The migration of the last copy finished before its statement n.
"""

import asyncio
import itertools
import os
import shutil
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any, ClassVar

from devui.store.journal import Journal


class Doomed(sqlite3.Connection):
    """Kills the process before the n-th statement or page of a backup."""

    left: ClassVar[int]
    moments: ClassVar[tuple[str, ...]] = ("BEGIN", "CREATE", "ALTER", "DROP", "INSERT", "PRAGMA u")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.set_trace_callback(self._statement)

    def backup(self, target: sqlite3.Connection, **_: Any) -> None:
        """Back up one page at a time, counting each."""
        super().backup(target, pages=1, progress=lambda *_: self._count_down())

    def _statement(self, sql: str) -> None:
        if sql.lstrip().startswith((*self.moments, "COMMIT", "DELETE", "UPDATE")):
            self._count_down()

    def _count_down(self) -> None:
        Doomed.left -= 1
        if Doomed.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


async def migrate(path: Path) -> None:
    async with await Journal.open(path, factory=Doomed):
        pass


def main(journal: Path, folder: Path) -> None:
    for number in itertools.count(1):
        path = folder / str(number)
        shutil.copytree(journal, path)
        child = os.fork()
        if child == 0:
            Doomed.left = number
            asyncio.run(migrate(path))
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
