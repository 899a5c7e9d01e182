"""Filters and breakpoints from old versions still select the same events of an old journal.

`kept/conditions.sql` is a journal with breakpoints, written when filters and conditions were two
languages; `conditions.json` has what each filter and breakpoint selected.
"""

import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from devui.debugger.breakpoints.book import BreakpointBook
from devui.debugger.breakpoints.breakpoint import Breakpoint, Draft
from devui.debugger.breakpoints.hits import past_hits
from devui.debugger.events.bus import Bus
from devui.debugger.events.matches import matches, words
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.filters import Filter, FilterError
from devui.store.journal import Journal
from devui.store.rows import SessionRow

KEPT = Path(__file__).parent / "kept"
EXPECTED = json.loads((KEPT / "conditions.json").read_text(encoding="utf-8"))
PRICES = Prices({}, "")


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    with contextlib.closing(sqlite3.connect(folder / "journal.db")) as connection:
        connection.executescript((KEPT / "conditions.sql").read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode = WAL")
    (folder / "journal.db").chmod(0o600)
    async with await Journal.open(folder) as journal:
        yield journal


async def session_in(journal: Journal) -> SessionRow:
    session = await journal.sessions.find("travel", "ada", "s")
    assert session is not None
    return session


WIDER = {"author:plan": "agent:plan*"}
"""The filters that select more events than before, since values match by prefix, and the filter
that selected those before."""


async def test_a_filter_selects_the_same_events_as_before(journal: Journal) -> None:
    session = await session_in(journal)
    for text, numbers in EXPECTED["filters"].items():
        if isinstance(numbers, str):
            with pytest.raises(FilterError, match=numbers):
                Filter.read(text)
            continue
        answer = await matches(journal, session.key, Filter.read(text), PRICES)
        expected = EXPECTED["filters"][WIDER.get(text, text)]
        assert list(answer.numbers) == expected, text
        assert set(numbers) <= set(expected), text
    assert {_now(word): count for word, count in EXPECTED["words"].items()} == await words(
        journal, session.key
    )


def _now(word: str) -> str:
    """Return the suggestion with the quotes that it has since then: a row lists only some of its
    event's keys, so each key could be the beginning of another one."""
    field, name = word.split(":", 1)
    return f'{field}:"{name}"' if field == "key" else word


SAME = {
    "kind:call": "kind == 'call'",
    "kind:call,result": "kind in ['call', 'result']",
    "is:error": "'error' in flags",
    "-is:edited": "not ('edited' in flags)",
    "author:planner": "agent == 'planner'",
    "author:pay@2": "node == 'pay@2'",
    "branch:left": "branch like '*.left'",
    "tool:book_*": "tool like 'book_*'",
    "tool:pay": "'pay' in tools",
    "tool:search_flights kind:call": "'search_flights' in calls",
    "key:key11": "'key11' in keys",
    "key:user:late": "exists(delta['user:late'])",
    "tokens>200": "tokens > 200",
    "size>=400": "size >= 400",
    '"sold out"': "'sold out' in said",
    "kind:text -needle": "kind == 'text' and not ('needle' in said)",
}
"""Filters of words, and the same filters as expressions."""


@pytest.mark.parametrize(("text", "condition"), SAME.items())
async def test_a_filter_of_words_an_expression_and_a_breakpoint_agree(
    journal: Journal, text: str, condition: str
) -> None:
    session = await session_in(journal)
    words = await matches(journal, session.key, Filter.read(text), PRICES)
    expression = await matches(journal, session.key, Filter.read(f"({condition})"), PRICES)
    point = Breakpoint(Draft(on="event", condition=condition))
    past = await past_hits(journal, session, [point], PRICES)
    assert words.numbers
    assert expression == words
    assert [hit.number for hit in past.hits] == list(words.numbers)


async def test_a_breakpoint_of_an_unknown_kind_does_not_affect_the_others(journal: Journal) -> None:
    await journal.breakpoints.add("travel", '{"on": "moon phase"}')
    book = await BreakpointBook.load(journal, Bus())
    assert len(book.of("travel")) == len(EXPECTED["breakpoints"])


async def test_a_stored_breakpoint_hits_the_same_events_as_before(journal: Journal) -> None:
    session = await session_in(journal)
    book = await BreakpointBook.load(journal, Bus())
    rows = book.of("travel")
    assert len(rows) == len(EXPECTED["breakpoints"])
    for row, expected in zip(rows, EXPECTED["breakpoints"], strict=True):
        past = await past_hits(journal, session, [row.breakpoint], PRICES)
        hits = [[hit.number, hit.text] for hit in past.hits]
        assert hits == expected["hits"], expected["breakpoint"]
