import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from devui.store.journal import Journal

KILLS = 20


def kill_at_random(path: Path, attempt: int, chance: random.Random) -> list[tuple[int, int, str]]:
    """Start the appender and kill it in the middle; return the appends it printed."""
    command = [sys.executable, "-m", "tests.store.appender", str(path), f"a{attempt}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(chance.randint(1, 120))]
        child.send_signal(signal.SIGKILL)
        lines += child.stdout.readlines()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(int(seq), int(number), name) for seq, number, name in whole]


@pytest.mark.slow
@pytest.mark.req("R35")
@pytest.mark.req("R37")
async def test_a_killed_writer_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(20)
    acknowledged: dict[str, tuple[int, int]] = {}
    for attempt in range(KILLS):
        seen = kill_at_random(tmp_path, attempt, chance)
        assert seen, "the appender acknowledged nothing"
        acknowledged |= {name: (seq, number) for seq, number, name in seen}
        async with await Journal.open(tmp_path) as journal:
            assert journal.set_aside is None
            session = await journal.sessions.find("travel", "ada", "s1")
            assert session is not None
            rows = await journal.events.since(session.key, 0)
            assert [row.number for row in rows] == list(range(1, session.events + 1))
            places = {row.id: (row.seq, row.number) for row in rows}
            assert acknowledged.items() <= places.items()
            state: dict[str, object] = {}
            for row in rows:
                writer, _, number = row.id.rpartition("-")
                state |= {"last": row.id, writer: int(number)}
            assert await journal.state.merged(session.key) == state
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
