import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import pytest

from devui.store.errors import BadValue, EventConflict, RunNotActive, SessionNotFound
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import Appended, EventRow, SessionRow
from tests.store.kit import append_many, new_event


def numbers(rows: list[EventRow]) -> list[int]:
    return [row.number for row in rows]


@pytest.mark.req("R35")
async def test_an_appended_event_can_be_read_at_once(journal: Journal, session: SessionRow) -> None:
    for number in range(1, 50):
        event = new_event(f"e{number}", timestamp=float(number), text="é" * number)
        done = await journal.events.append(session.key, event, None)
        assert done == Appended(session.seq + number, number, duplicate=False)
        row, body = await journal.events.body(session.key, number) or pytest.fail("not there")
        assert body.text == event.data
        assert (row.seq, row.id, row.size) == (done.seq, event.id, len(event.data.encode()))
        head = await journal.sessions.get(session.key)
        assert head is not None
        assert (head.events, head.seq, head.updated) == (number, done.seq, float(number))


async def test_a_row_holds_what_was_appended(journal: Journal, session: SessionRow) -> None:
    run = await journal.runs.start("r1", session.key)
    event = dataclasses.replace(new_event(), branch="a.b", final=True, summary_json='{"text":"hi"}')
    done = await journal.events.append(session.key, event, "r1")
    [row] = await journal.events.page(session.key, limit=1)
    assert row == EventRow(
        seq=done.seq,
        number=1,
        session=session.key,
        run="r1",
        id="e1",
        invocation_id="i1",
        author="agent",
        branch="a.b",
        timestamp=1.0,
        kind="text",
        final=True,
        summary_json='{"text":"hi"}',
        chunks=0,
        size=len(event.data),
        began=run.started,
    )
    assert row.final is True


@pytest.mark.req("R37")
async def test_appending_an_event_again_returns_the_first_outcome(
    journal: Journal, session: SessionRow
) -> None:
    first = await journal.events.append(session.key, new_event(a=1), None)
    await journal.events.append(session.key, new_event("e2", a=2), None)
    again = await journal.events.append(session.key, new_event(a=1), None)
    assert again == dataclasses.replace(first, duplicate=True)
    assert await journal.state.merged(session.key) == {"a": 2}
    assert len(await journal.events.since(session.key, 0)) == 2


@pytest.mark.req("R37")
async def test_the_same_id_with_other_content_is_a_conflict(
    journal: Journal, session: SessionRow
) -> None:
    await journal.events.append(session.key, new_event(), None)
    with pytest.raises(EventConflict, match="'e1' as #1"):
        await journal.events.append(session.key, new_event(text="other"), None)
    assert len(await journal.events.since(session.key, 0)) == 1


async def test_two_sessions_may_hold_the_same_event_id(journal: Journal) -> None:
    for name in ("a", "b"):
        row = await journal.sessions.create("travel", "ada", name, {})
        assert (await journal.events.append(row.key, new_event(text=name), None)).number == 1


@pytest.mark.parametrize("key", [99, 10**30, -1])
async def test_an_unknown_session_takes_no_events(journal: Journal, key: int) -> None:
    with pytest.raises(SessionNotFound, match=str(key)):
        await journal.events.append(key, new_event(), None)
    with pytest.raises(SessionNotFound):
        await journal.events.add_chunks(key, None, [("e1", "{}")])


@pytest.mark.req("R38")
async def test_only_the_active_run_of_the_session_may_write(
    journal: Journal, session: SessionRow
) -> None:
    other = await journal.sessions.create("travel", "ada", "s2", {})
    await journal.runs.start("r1", session.key)
    await journal.runs.start("r2", other.key)
    await journal.events.append(session.key, new_event("e1"), "r1")
    await journal.runs.change("r1", "stopping")
    await journal.events.append(session.key, new_event("e2"), "r1")
    for run in ("r2", "nobody"):
        with pytest.raises(RunNotActive, match=run):
            await journal.events.append(session.key, new_event("e3"), run)
    await journal.runs.change("r1", "stopped")
    with pytest.raises(RunNotActive, match="r1"):
        await journal.events.append(session.key, new_event("e3"), "r1")
    repeated = await journal.events.append(session.key, new_event("e2"), "r1")
    assert repeated.duplicate


async def test_pages_reach_every_row_once_in_both_directions(
    journal: Journal, session: SessionRow
) -> None:
    other = await journal.sessions.create("travel", "ada", "s2", {})
    await append_many(journal, session.key, 23)
    await append_many(journal, other.key, 3)
    everything = await journal.events.since(session.key, 0)
    assert numbers(everything) == list(range(1, 24))

    upwards: list[EventRow] = []
    while page := await journal.events.page(
        session.key, after=upwards[-1].seq if upwards else 0, limit=5
    ):
        upwards += page
    downwards: list[EventRow] = []
    while page := await journal.events.page(
        session.key, before=downwards[0].seq if downwards else None, limit=5
    ):
        downwards = page + downwards
    assert upwards == downwards == everything


async def test_a_page_can_be_bounded_on_both_sides(journal: Journal, session: SessionRow) -> None:
    await append_many(journal, session.key, 9)
    rows = await journal.events.since(session.key, 0)
    inside = await journal.events.page(
        session.key, after=rows[2].seq, before=rows[6].seq, limit=100
    )
    assert numbers(inside) == [4, 5, 6]
    assert await journal.events.page(session.key, limit=0) == []
    assert numbers(await journal.events.page(session.key, before=10**30, limit=2)) == [8, 9]


async def test_bodies_are_read_by_number_and_by_seq(journal: Journal, session: SessionRow) -> None:
    await append_many(journal, session.key, 9)
    bodies = await journal.events.bodies(session.key, [7, 2, 99, 10**30])
    assert [(row.number, event.id) for row, event in bodies] == [(2, "e2"), (7, "e7")]
    following = await journal.events.following(session.key, bodies[0][0].seq, 2)
    assert [row.number for row, _ in following] == [3, 4]
    assert await journal.events.body(session.key, 0) is None


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7]),
        ({"batch": 2}, [1, 2, 3, 4, 5, 6, 7]),
        ({"num_recent": 3, "batch": 2}, [5, 6, 7]),
        ({"num_recent": 0}, []),
        ({"num_recent": 99}, [1, 2, 3, 4, 5, 6, 7]),
        ({"after_timestamp": 4.0}, [4, 5, 6, 7]),
        ({"after_timestamp": 4.5, "num_recent": 2}, [6, 7]),
        ({"after_timestamp": 99.0}, []),
    ],
)
async def test_the_json_of_a_session_is_exact_and_in_order(
    journal: Journal, session: SessionRow, options: dict[str, Any], expected: list[int]
) -> None:
    await append_many(journal, session.key, 7)
    texts = [data async for data in journal.events.json(session.key, **options)]
    assert texts == [new_event(f"e{n}", timestamp=float(n)).data for n in expected]


async def test_the_json_of_a_session_is_a_snapshot(journal: Journal, session: SessionRow) -> None:
    await append_many(journal, session.key, 4)
    seen = 0
    async for _ in journal.events.json(session.key, batch=1):
        seen += 1
        await journal.events.append(session.key, new_event(f"late{seen}"), None)
    assert seen == 4


async def test_events_are_counted_by_kind(journal: Journal, session: SessionRow) -> None:
    for number, kind in enumerate(["text", "call", "result", "text"]):
        await journal.events.append(session.key, new_event(f"e{number}", kind=kind), None)
    await journal.events.append(session.key, new_event("e0"), None)
    assert await journal.events.counts(session.key) == {"call": 1, "result": 1, "text": 2}


async def test_tokens_are_counted_once_per_event(journal: Journal, session: SessionRow) -> None:
    for number, tokens in enumerate([10, 0, 5]):
        event = dataclasses.replace(new_event(f"e{number}"), tokens=tokens)
        for _ in range(2):
            await journal.events.append(session.key, event, None)
    head = await journal.sessions.get(session.key)
    assert head is not None
    assert head.tokens == 15


@pytest.mark.parametrize("tokens", [10**30, -5])
async def test_an_impossible_token_count_does_no_harm(
    journal: Journal, session: SessionRow, tokens: int
) -> None:
    for number in range(3):
        event = dataclasses.replace(new_event(f"e{number}"), tokens=tokens)
        await journal.events.append(session.key, event, None)
    head = await journal.sessions.get(session.key)
    assert head is not None
    assert head.tokens >= 0


async def test_chunks_are_stored_with_the_event_they_become(
    journal: Journal, session: SessionRow
) -> None:
    await journal.events.add_chunks(
        session.key, "r1", [("e1", '"a"'), ("e2", '"x"'), ("e1", '"b"')]
    )
    await journal.events.append(session.key, new_event("e1"), None)
    await journal.events.add_chunks(session.key, None, [("e1", '"c"')])
    assert await journal.events.chunks(session.key, "e1") == ['"a"', '"b"', '"c"']
    assert await journal.events.chunks(session.key, "e2") == ['"x"']
    [row] = await journal.events.since(session.key, 0)
    assert row.chunks == 3
    assert [data async for data in journal.events.json(session.key)] == [new_event("e1").data]


@pytest.mark.parametrize(
    "field", ["id", "invocation_id", "author", "branch", "kind", "summary_json", "data"]
)
@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
async def test_an_unstorable_text_is_refused_before_anything_is_written(
    journal: Journal, session: SessionRow, field: str, bad: str
) -> None:
    with pytest.raises(BadValue, match="at 1"):
        await journal.events.append(
            session.key, dataclasses.replace(new_event(), **{field: bad}), None
        )
    assert await journal.events.since(session.key, 0) == []


@pytest.mark.req("R47")
async def test_timestamps_do_not_affect_the_order(journal: Journal, session: SessionRow) -> None:
    for number, timestamp in enumerate([5.0, -3600.0, 1e12, 0.0]):
        await journal.events.append(session.key, new_event(f"e{number}", timestamp=timestamp), None)
    rows = await journal.events.since(session.key, 0)
    assert [row.id for row in rows] == ["e0", "e1", "e2", "e3"]
    with pytest.raises(BadValue, match="nan"):
        await journal.events.append(session.key, new_event("e9", timestamp=math.nan), None)


async def test_a_session_can_be_created_with_its_history(journal: Journal) -> None:
    events = [new_event("e1", a=1), new_event("e2", timestamp=7.0, a=2)]
    row = await journal.sessions.create("app", "u", "told", {"b": 0}, history=history(events))
    assert (row.events, row.updated) == (2, 7.0)
    assert [data async for data in journal.events.json(row.key)] == [e.data for e in events]
    assert await journal.state.merged(row.key) == {"a": 2, "b": 0}


async def test_a_conflicting_history_leaves_no_session(journal: Journal) -> None:
    clash = [new_event("e1", text="one"), new_event("e1", text="two")]
    with pytest.raises(EventConflict):
        await journal.sessions.create("app", "u", "half", {"user:b": 1}, history=history(clash))
    assert await journal.sessions.find("app", "u", "half") is None
    row = await journal.sessions.create("app", "u", "half", {})
    assert await journal.state.shared(row.key) == {}


async def test_outside_finds_the_first_or_last_event_beyond_an_agents_own(
    journal: Journal, session: SessionRow
) -> None:
    paths = ["", "T/A", "T/A/B", "T/AB", "T/A", "T/A"]
    for number, path in enumerate(paths, 1):
        event = dataclasses.replace(
            new_event(f"e{number}"),
            invocation_id="i1" if number < 6 else "i2",
            summary_json=json.dumps({"kind": "text", "text": "", "path": path}) if path else "{",
        )
        await journal.events.append(session.key, event, None)

    async def outside(numbers: Sequence[int], *, is_last: bool) -> int | None:
        return await journal.events.outside(session.key, "i1", "T/A", numbers, is_last=is_last)

    assert await outside(range(2, 7), is_last=False) == 4
    assert await outside(range(1, 4), is_last=True) == 1
    assert await outside(range(2, 4), is_last=True) is None
    assert await outside(range(5, 7), is_last=False) == 6
    assert await outside([2, 3, 5, 6], is_last=False) == 6
    assert await outside([2, 3, 5], is_last=False) is None
    assert await outside([1, 3, 5], is_last=True) == 1
    assert await outside([], is_last=True) is None
