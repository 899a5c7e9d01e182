from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from devui.store.journal import Journal
from devui.store.rows import SessionRow


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with await Journal.open(tmp_path / "data") as journal:
        yield journal


@pytest.fixture
async def session(journal: Journal) -> SessionRow:
    return await journal.sessions.create("travel", "ada", "s1", {})
