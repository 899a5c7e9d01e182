"""The session page: its consistency while the journal changes, and its cost."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from sqlite3 import Cursor, OperationalError
from typing import Any, ClassVar

import pytest

from devui.debugger.predicates.filters import FilterInput
from devui.settings import Settings
from devui.store.events import history
from devui.store.journal import Journal
from devui.web.page_query import PageQuery
from devui.web.panels.session.page import session_page
from devui.web.panels.timeline.parts import RunEnd
from devui.web.program import open_services
from devui.web.security.access import Access
from devui.web.services import Services
from tests.kit.patience import PATIENCE
from tests.kit.search_histories import event
from tests.store.kit import ListeningConnection


class PausingConnection(ListeningConnection):
    """Pauses once after reading the journal's head, until `go_on` is set.

    It can't be opened for reads on the event loop's thread, which it would block.
    """

    armed: ClassVar[bool] = False
    paused: ClassVar[threading.Event] = threading.Event()
    go_on: ClassVar[threading.Event] = threading.Event()

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        if sql == "PRAGMA busy_timeout = 0":
            raise OperationalError
        cursor = super().execute(sql, parameters)
        if type(self).armed and sql == "SELECT seq FROM journal":
            type(self).armed = False
            self.paused.set()
            assert self.go_on.wait(PATIENCE)
        return cursor


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """A server's services, with a journal that can be paused."""
    (tmp_path / "agents").mkdir()
    settings = Settings(agents=tmp_path / "agents", data_dir=tmp_path / "server")
    async with (
        open_services(settings, Access(None)) as parts,
        await Journal.open(tmp_path / "data", factory=PausingConnection) as journal,
    ):
        yield replace(parts, journal=journal)


async def test_a_page_built_while_a_run_ends_shows_its_end(services: Services) -> None:
    session = await services.journal.sessions.create("travel", "u", "s", {})
    await services.journal.runs.start("run-1", session.key)
    PausingConnection.armed = True
    making = asyncio.create_task(session_page(services, session, None, tab=None, theme="auto"))
    assert await asyncio.to_thread(PausingConnection.paused.wait, PATIENCE)
    await services.journal.runs.change("run-1", "failed")
    PausingConnection.go_on.set()
    page = await making
    assert page.topbar.run.status == "failed"
    assert [type(item) for item in page.timeline.items] == [RunEnd]


async def test_a_filtered_page_of_the_past_does_not_show_the_end_of_the_run(
    services: Services,
) -> None:
    events = history(event(number) for number in (1, 2, 3))
    session = await services.journal.sessions.create("travel", "u", "s", {}, history=events)
    await services.journal.runs.start("run-1", session.key)
    await services.journal.runs.change("run-1", "failed")
    [row] = await services.journal.events.rows(session.key, [2])
    query = PageQuery(filter_field=FilterInput.read("kind:text,error"))
    for at, ends in [(None, 1), (row, 0)]:
        query = replace(query, at=at)
        page = await session_page(services, session, at, tab=None, theme="auto", query=query)
        assert sum(isinstance(item, RunEnd) for item in page.timeline.items) == ends


@pytest.mark.req("R48")
async def test_a_very_large_session_has_a_notice(services: Services, tmp_path: Path) -> None:
    events = history(event(number) for number in (1, 2))
    session = await services.journal.sessions.create("travel", "u", "s", {}, history=events)
    other = await services.journal.sessions.create("travel", "u", "other", {}, history=events)
    with closing(sqlite3.connect(tmp_path / "data" / "journal.db")) as elsewhere, elsewhere:
        grown = "UPDATE events SET size = 600000000 WHERE session = ?"
        elsewhere.execute(grown, (session.key,))
    for each, expected in [(session, ["very long: 2 events, 1.2 GB"]), (other, [])]:
        page = await session_page(services, each, None, tab=None, theme="auto")
        titles = [notice.title for notice in page.notices if "very long" in notice.title]
        assert [title.removeprefix("This session is ") for title in titles] == [
            f"{words}." for words in expected
        ]


PAGES = {
    "now": PageQuery(),
    "now, with a filter": PageQuery(filter_field=FilterInput.read("author:user")),
    "as of an event": PageQuery(),
    "as of an event, with a filter": PageQuery(filter_field=FilterInput.read("tool:look")),
    "as of an event, with words": PageQuery(filter_field=FilterInput.read('"a far needle"')),
}


async def costs(services: Services, count: int) -> dict[str, int]:
    """Return the cost of each page at its second load, in tens of SQLite's steps."""
    events = history(event(number) for number in range(1, count + 1))
    session = await services.journal.sessions.create("travel", "ada", None, {}, history=events)
    await services.journal.runs.start(f"run {count}", session.key, f"i{count // 10}")
    await services.journal.runs.change(f"run {count}", "done")
    [row] = await services.journal.events.rows(session.key, [700])
    steps = {}
    for name, query in PAGES.items():
        query = replace(query, at=row) if name.startswith("as of") else query
        for _ in range(2):
            PausingConnection.steps = 0
            await session_page(services, session, query.at, tab=None, theme="auto", query=query)
            steps[name] = PausingConnection.steps
    return steps


@pytest.mark.req("R48")
async def test_pages_cost_no_more_in_a_long_session(services: Services) -> None:
    small, large = await costs(services, 1_000), await costs(services, 5_000)
    dear = {name: (small[name], large[name]) for name in PAGES if large[name] > small[name] * 1.2}
    assert not dear
