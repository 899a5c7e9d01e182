"""Which events of a journal match a filter: all of them, and the nearest ones to an event."""

from pathlib import Path

import pytest

from devui.debugger.events.matches import beside, matches
from devui.debugger.events.prices import Prices
from devui.debugger.predicates.filters import Filter
from devui.debugger.runs.commit import event_of
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from devui.wire.events import Event
from tests.kit.search_histories import event
from tests.store.kit import ListeningConnection

UNPRICED = Prices({}, "")
FILTERS = ["author:user", "tool:look", "seconds>1", '"a far needle"', "is:starred", "-kind:call"]


async def fill(path: Path, count: int) -> tuple[Journal, int]:
    journal = await Journal.open(path, factory=ListeningConnection)
    session = await journal.sessions.create("travel", "ada", "s1", {})
    for number in range(1, count + 1):
        await journal.events.append(session.key, event(number), None)
    await journal.notes.put(session.key, 33, actor="ada", starred=True)
    return journal, session.key


@pytest.mark.parametrize("text", FILTERS)
async def test_matches_beside_an_event_agree_with_those_of_the_whole_session(
    tmp_path: Path, text: str
) -> None:
    journal, key = await fill(tmp_path, 260)
    filter_ = Filter.read(text)
    numbers = (await matches(journal, key, filter_, UNPRICED)).numbers
    assert numbers
    for here, until in [(None, None), (1, None), (33, 40), (101, None), (150, 200), (260, 260)]:
        neighbors = await beside(journal, key, filter_, UNPRICED, number=here, until=until)
        before = [each for each in numbers if each < (here or 261)]
        after = [each for each in numbers if here and here < each <= (until or 260)]
        assert neighbors == (before[-1] if before else None, after[0] if after else None), here
    await journal.close()


@pytest.mark.parametrize("text", [*FILTERS, "-is:noted", "remark"])
async def test_a_cached_search_finds_what_a_new_one_finds(tmp_path: Path, text: str) -> None:
    async with await Journal.open(tmp_path) as journal:
        events = [event(number) for number in range(1, 121)]
        key = (await journal.sessions.create("a", "u", "s", {}, history=history(events))).key
        filter_ = Filter.read(text)

        async def same(until: int | None = None) -> list[int]:
            answer = await matches(journal, key, filter_, UNPRICED, until=until)
            assert answer == await matches(journal, key, filter_, Prices({}, ""), until=until)
            return list(answer.numbers)

        before = await same()
        await journal.notes.put(key, 33, actor="ada", starred=True)
        await journal.notes.put(key, 105, actor="ada", text="a Remark")
        for number in range(121, 131):
            await journal.events.append(key, event(number), None)
        [row] = await journal.events.rows(key, [60])
        assert await same(row.seq) == [number for number in await same() if number < 60]
        await journal.notes.put(key, 33, actor="ada", starred=False)
        await journal.notes.put(key, 105, actor="ada", text="")
        assert [number for number in await same() if number <= 120] == before


def wide(number: int) -> NewEvent:
    """Return an event that writes more keys than its row shows."""
    delta = {"n": number, **{f"k{each}": number for each in range(12)}}
    delta |= {"user:late": 1} if number % 3 == 0 else {}
    body = {"id": f"e{number}", "author": "a", "timestamp": 1.0, "actions": {"stateDelta": delta}}
    return event_of(Event.of(body), final=False)


KEYS = {
    "key:user:late": lambda number: number % 3 == 0,
    "-key:user:late": lambda number: number % 3 != 0,
    "key:late": lambda _: False,
    "key:user:": lambda number: number % 3 == 0,
    'key:"user:"': lambda _: False,
    "key:k1*": lambda _: True,
}


@pytest.mark.parametrize("text", KEYS)
async def test_a_filter_by_state_keys_reads_no_bodies(tmp_path: Path, text: str) -> None:
    async with await Journal.open(tmp_path, factory=ListeningConnection) as journal:
        new = history([wide(number) for number in range(1, 61)])
        key = (await journal.sessions.create("a", "u", "s", {}, history=new)).key
        filter_, expected = Filter.read(text), [*filter(KEYS[text], range(1, 61))]
        ListeningConnection.statements.clear()
        assert list((await matches(journal, key, filter_, UNPRICED)).numbers) == expected
        before, after = await beside(journal, key, filter_, UNPRICED, number=30)
        assert before == max((each for each in expected if each < 30), default=None)
        assert after == min((each for each in expected if each > 30), default=None)
        read = [sql for sql in ListeningConnection.statements if "event_bodies" in sql]
        assert len(read) <= 1  # the event that `beside` starts from


async def test_the_next_match_costs_no_more_in_a_long_session(tmp_path: Path) -> None:
    costs = []
    for count in (300, 1500):
        journal, key = await fill(tmp_path / str(count), count)
        ListeningConnection.steps = 0
        filter_ = Filter.read("author:user")
        assert await beside(journal, key, filter_, UNPRICED, number=155) == (151, 161)
        costs.append(ListeningConnection.steps)
        await journal.close()
    assert costs[1] <= costs[0] * 1.3 + 5
