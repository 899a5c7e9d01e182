"""The index of texts: updated by searches, even in old journals, and cleared of deleted events."""

import contextlib
import json
import sqlite3
from dataclasses import replace

import pytest

from devui.debugger.events.prices import Prices
from devui.debugger.predicates.filters import Filter
from devui.debugger.search.hits import PER_SESSION, SESSIONS, find
from devui.debugger.search.index import SearchIndex
from devui.store.journal import Journal
from devui.store.sqlite.schema import load_migrations
from tests.store.kit import new_event

BEFORE_SEARCH = [step for step in load_migrations() if step.version < 25]


def saying(name: str, text: str):
    summary = json.dumps({"kind": "text", "text": "said"})
    data = json.dumps({"id": name, "content": {"parts": [{"text": text}]}})
    return replace(new_event(name), summary_json=summary, data=data)


async def numbers(journal, text, **query):
    page = await find(journal, Filter.read(text), Prices({}, ""), **query)
    return {
        each.session.key: [hit.row.number for hit in each.hits] for each in page.sessions
    }, page.before


@pytest.mark.req("R44")
async def test_an_old_journal_is_indexed_and_deleted_events_leave_the_index(
    tmp_path,
):
    tmp_path.chmod(0o700)
    async with await Journal.open(tmp_path, migrations=BEFORE_SEARCH) as journal:
        old = await journal.sessions.create("app", "ada", None, {})
        for number in range(300):
            await journal.events.append(old.key, saying(f"e{number}", f"word{number} common"), None)
    async with await Journal.open(tmp_path) as journal, SearchIndex(journal) as index:
        assert not (await index.catch_up(patience=0)).is_whole
        assert (await index.catch_up(patience=60)).is_whole
        assert await numbers(journal, "word17") == ({old.key: [180, 179, 178]}, None)
        new = await journal.sessions.create("app", "ada", None, {})
        await journal.events.append(new.key, saying("n1", "word170 \ud800 again"), None)
        assert (await index.catch_up()).percent == 100
        assert await numbers(journal, "word170") == ({new.key: [1], old.key: [171]}, None)
        await journal.sessions.delete(old.key)
        assert await numbers(journal, "common") == ({}, None)
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        assert connection.execute("SELECT count(*) FROM search_texts").fetchone() == (1,)
        connection.execute("INSERT INTO search_index (search_index) VALUES ('integrity-check')")
        connection.execute(
            "CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, search_index, row)"
        )
        words = {term for term, *_ in connection.execute("SELECT * FROM temp.words")}
    assert "word170" in words
    assert not {"word171", "common"} & words


async def test_results_come_in_pages_of_sessions(tmp_path):
    tmp_path.chmod(0o700)
    async with await Journal.open(tmp_path) as journal, SearchIndex(journal) as index:
        keys = []
        for place in range(SESSIONS + 5):
            row = await journal.sessions.create("app", "ada", None, {})
            keys.append(row.key)
            for number in range(PER_SESSION + place % 2):
                await journal.events.append(row.key, saying(f"e{number}", "needle"), None)
        await index.catch_up(patience=60)
        first, before = await numbers(journal, "needle")
        second, end = await numbers(journal, "needle", before=before)
        assert end is None
        assert [*first, *second] == keys[::-1]
        assert {len(hits) for hits in (*first.values(), *second.values())} == {PER_SESSION}
        assert await numbers(journal, "needle", session=keys[3], most=9) == (
            {keys[3]: [4, 3, 2, 1]},
            None,
        )
        assert await numbers(journal, "seconds>5") == ({}, None)
