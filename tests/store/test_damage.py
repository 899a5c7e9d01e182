import random
from pathlib import Path

import pytest

from devui.store.errors import JournalDamaged, StoreError
from devui.store.journal import Journal
from devui.store.values import parse_json
from tests.kit.rounds import rounds
from tests.store.kit import append_many, new_event

PAGE = 4096


async def fill(path: Path) -> bytes:
    """Create a journal with one session and a few events; return the content of its file."""
    async with await Journal.open(path) as journal:
        row = await journal.sessions.create("travel", "ada", "s1", {"user:a": 1})
        await append_many(journal, row.key, 60, a="x" * 50)
    return (path / "journal.db").read_bytes()


async def read_everything(journal: Journal) -> None:
    for row in await journal.sessions.recent(10):
        await journal.events.since(row.key, 0)
        await journal.state.merged(row.key)
        await journal.events.counts(row.key)
        assert [data async for data in journal.events.json(row.key)]


def scribble(content: bytes) -> bytes:
    return b"no database at all" * 100


def truncate(content: bytes) -> bytes:
    return content[: len(content) // 2 + 100]


def flip_inner_pages(content: bytes) -> bytes:
    middle = PAGE * 3
    return content[:middle] + bytes(byte ^ 0xFF for byte in content[middle:])


def flip_the_head_of_the_last_page(content: bytes) -> bytes:
    return content[:-PAGE] + b"\xff" * 8 + content[-PAGE + 8 :]


def cut_to_a_header(content: bytes) -> bytes:
    return content[:50]


@pytest.mark.req("R43")
@pytest.mark.parametrize(
    "damage",
    [scribble, truncate, flip_inner_pages, flip_the_head_of_the_last_page, cut_to_a_header],
)
async def test_a_damaged_journal_is_set_aside_unchanged_and_a_new_one_starts(
    tmp_path: Path, damage
) -> None:
    path = tmp_path / "data" / "journal.db"
    damaged = damage(await fill(tmp_path / "data"))
    for _ in range(2):
        path.write_bytes(damaged)
        async with await Journal.open(tmp_path / "data") as journal:
            assert journal.set_aside is not None
            assert journal.set_aside.read_bytes() == damaged
            assert await journal.sessions.recent(1) == []
            row = await journal.sessions.create("travel", "ada", "s1", {})
            await journal.events.append(row.key, new_event(), None)
    copies = [file.name for file in (tmp_path / "data").glob("journal.db.damaged-*")]
    assert len([name for name in copies if not name.endswith(("-wal", "-shm"))]) == 2


@pytest.mark.slow
@pytest.mark.req("R43")
@pytest.mark.parametrize("seed", range(rounds(15, 40)))
async def test_random_damage_is_detected_or_harmless_and_the_file_is_kept(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    content = bytearray(await fill(tmp_path / "data"))
    offset = chance.randrange(100, len(content) - 64)
    content[offset : offset + 64] = chance.randbytes(64)
    path = tmp_path / "data" / "journal.db"
    path.write_bytes(content)
    try:
        async with await Journal.open(tmp_path / "data") as journal:
            if journal.set_aside is not None:
                assert journal.set_aside.read_bytes() == content
            await read_everything(journal)
    except StoreError:
        assert path.read_bytes()[offset : offset + 64] == content[offset : offset + 64]


def test_a_stored_value_that_is_not_json_is_damage() -> None:
    with pytest.raises(JournalDamaged, match="no longer valid JSON"):
        parse_json("{1")
