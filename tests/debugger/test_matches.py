"""Which events a filter lets through, of a journal: all of them, and the ones next to an event."""

import json
from pathlib import Path

import pytest

from devui.debugger.filters import Filter
from devui.debugger.matches import beside, matches
from devui.debugger.prices import Prices
from devui.debugger.summary import summarise
from devui.store.journal import Journal
from devui.store.rows import NewEvent
from tests.store.kit import ListeningConnection

UNPRICED = Prices({}, "")
FILTERS = ["author:user", "tool:look", "seconds>1", '"a far needle"', "is:starred", "-kind:call"]


def event(number: int) -> NewEvent:
    """A turn is ten events long; every fiftieth says at its end what its row does not show."""
    author = "user" if number % 10 == 1 else "Agent"
    text = "x" * 300 + (" a far needle" if number % 50 == 5 else "")
    call = {"functionCall": {"id": f"c{number}", "name": "look", "args": {}}}
    told = {
        "id": f"e{number}",
        "author": author,
        "invocationId": f"i{number // 10}",
        "content": {"parts": [call if number % 7 == 0 else {"text": text}]},
    }
    summary = summarise(told, final=False)
    return NewEvent(
        id=f"e{number}",
        invocation_id=f"i{number // 10}",
        author=author,
        branch=None,
        timestamp=number * 0.5 + number // 30,
        kind=summary.kind,
        final=False,
        summary=summary.to_json(),
        data=json.dumps(told),
        state_delta={},
    )


async def fill(path: Path, count: int) -> tuple[Journal, int]:
    journal = await Journal.open(path, factory=ListeningConnection)
    session = await journal.sessions.create("travel", "ada", "s1", {})
    for number in range(1, count + 1):
        await journal.events.append(session.key, event(number), None)
    await journal.notes.put(session.key, 33, actor="ada", starred=True)
    return journal, session.key


@pytest.mark.parametrize("text", FILTERS)
async def test_the_matches_beside_an_event_are_those_of_the_whole_session(
    tmp_path: Path, text: str
) -> None:
    journal, key = await fill(tmp_path, 260)
    wanted = Filter.read(text)
    numbers = (await matches(journal, key, wanted, UNPRICED)).numbers
    assert numbers
    for here, until in [(None, None), (1, None), (33, 40), (101, None), (150, 200), (260, 260)]:
        found = await beside(journal, key, wanted, UNPRICED, number=here, until=until)
        before = [each for each in numbers if each < (here or 261)]
        after = [each for each in numbers if here and here < each <= (until or 260)]
        assert found == (before[-1] if before else None, after[0] if after else None), here
    await journal.close()


async def test_the_next_match_costs_no_more_in_a_long_session(tmp_path: Path) -> None:
    costs = []
    for count in (300, 1500):
        journal, key = await fill(tmp_path / str(count), count)
        ListeningConnection.steps = 0
        wanted = Filter.read("author:user")
        assert await beside(journal, key, wanted, UNPRICED, number=155) == (151, 161)
        costs.append(ListeningConnection.steps)
        await journal.close()
    assert costs[1] <= costs[0] * 1.3 + 5
