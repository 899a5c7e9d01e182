"""Appends to the journal forever and prints each acknowledgement, until the kill test kills it."""

import asyncio
import sys
from pathlib import Path

from devui.store.journal import Journal
from tests.store.kit import event_with

WRITERS = 3


async def append_for_ever(journal: Journal, key: int, prefix: str) -> None:
    number = 0
    while True:
        number += 1
        name = f"{prefix}-{number}"
        done = await journal.events.append(
            key, event_with({"last": name, prefix: number}, name), None
        )
        sys.stdout.write(f"{done.seq} {done.number} {name}\n")
        sys.stdout.flush()


async def main(path: Path, attempt: str) -> None:
    async with await Journal.open(path) as journal:
        row = await journal.sessions.find("travel", "ada", "s1")
        row = row or await journal.sessions.create("travel", "ada", "s1", {})
        async with asyncio.TaskGroup() as group:
            for writer in range(WRITERS):
                group.create_task(append_for_ever(journal, row.key, f"{attempt}w{writer}"))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
