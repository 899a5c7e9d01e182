"""The session page, while the journal goes on."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from devui.settings import Settings
from devui.store import Journal
from devui.web.parts.session import RunEnd
from devui.web.presenters.workbench import session_page
from devui.web.program import opened
from devui.web.security.access import Access
from devui.web.services import Services

SECONDS = 30


class PausingConnection(sqlite3.Connection):
    """Stops once after it has read the journal's head, until it may go on."""

    armed: ClassVar[bool] = False
    paused: ClassVar[threading.Event] = threading.Event()
    go_on: ClassVar[threading.Event] = threading.Event()

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)
        if type(self).armed and sql == "SELECT seq FROM journal":
            type(self).armed = False
            self.paused.set()
            assert self.go_on.wait(SECONDS)
        return cursor


@pytest.fixture
async def found(tmp_path: Path) -> AsyncIterator[Services]:
    """A server's parts, with a journal that can be held up."""
    (tmp_path / "agents").mkdir()
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "server")
    async with (
        opened(settings, Access(None)) as parts,
        await Journal.open(tmp_path / "data", factory=PausingConnection) as journal,
    ):
        yield replace(parts, journal=journal)


async def test_a_page_made_in_the_instant_a_run_ends_shows_that_end(found: Services) -> None:
    session = await found.journal.sessions.create("travel", "u", "s", {})
    await found.journal.runs.start("run-1", session.key)
    PausingConnection.armed = True
    making = asyncio.create_task(session_page(found, session, None, tab=None, theme="auto"))
    assert await asyncio.to_thread(PausingConnection.paused.wait, SECONDS)
    await found.journal.runs.change("run-1", "failed")
    PausingConnection.go_on.set()
    page = await making
    assert page.topbar.run.status == "failed"
    assert [type(item) for item in page.timeline.items] == [RunEnd]
