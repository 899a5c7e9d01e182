"""Totals of a session as of each event, and the cost of computing them."""

import dataclasses
import json
import random
from pathlib import Path

import pytest

from devui.store.journal import Journal
from devui.store.rows import Durations, EventRow, NewEvent, SessionRow, UsageSum
from devui.store.summaries import Usage
from tests.store.kit import ListeningConnection, new_event

LIMITS = (100, 200)
MOST_STEPS = 150
"""Of SQLite's virtual machine, in tens; up to 63 answers are read."""
AUTHORS, MODELS = ("ada", "bob"), ("small", "large")


def answer(draw: random.Random, number: int) -> NewEvent:
    """Return an event, three times out of four with token usage."""
    event = dataclasses.replace(
        new_event(f"e{number}", timestamp=float(number)),
        kind=draw.choice(["user", "text", "call"]),
        author=draw.choice(AUTHORS),
        paused=draw.choice([0.0, 0.5]),
    )
    if not draw.randrange(4):
        return event
    prompt, output = draw.randrange(300), draw.randrange(50)
    used = Usage(draw.choice(MODELS), prompt, draw.randrange(prompt + 1), output, output // 2)
    tokens = prompt + output
    summary = json.dumps({"tokens": tokens})
    return dataclasses.replace(event, usage=used, tokens=tokens, summary_json=summary)


async def append_all(
    journal: Journal, session: int, events: list[NewEvent], run_length: int
) -> None:
    """Append the events in runs of `run_length` events."""
    for number, event in enumerate(events):
        place, run = number % run_length, f"r{session}-{event.id[1:]}"
        if place == 0:
            going = await journal.runs.start(run, session)
        await journal.events.append(session, event, going.id)
        if place == run_length - 1 or number == len(events) - 1:
            await journal.runs.change(going.id, "done", paused=0.25)


def summed(events: list[NewEvent]) -> list[UsageSum]:
    """Return the sums, added up one by one."""
    sums: dict[tuple[str, str, int], list[int]] = {}
    for event in events:
        if (used := event.usage) is None:
            continue
        over = sum(1 for limit in LIMITS if used.prompt > limit)
        counts = (1, used.prompt, used.cached, used.output, used.thoughts)
        before = sums.get((event.author, used.model, over), [0] * 5)
        sums[event.author, used.model, over] = [a + b for a, b in zip(before, counts, strict=True)]
    return [
        UsageSum(author, over, answers, Usage(model, *tokens))
        for (author, model, over), (answers, *tokens) in sorted(sums.items())
    ]


async def matches(journal: Journal, session: int, events: list[NewEvent], until: int) -> None:
    totals, some = journal.totals, events[:until]
    assert await totals.usage(session, limits=LIMITS, until=until) == summed(some)
    tokens = [event.tokens for event in some if event.usage]
    assert await totals.tokens(session, until) == (sum(tokens) if tokens else None)


@pytest.mark.parametrize("seed", range(3))
async def test_totals_as_of_any_event_are_the_plain_sums(
    journal: Journal, session: SessionRow, seed: int
) -> None:
    draw = random.Random(seed)
    events = [answer(draw, number) for number in range(1, 300)]
    await append_all(journal, session.key, events[:150], 7)
    for until in (0, 1, 64, 65, 100, 149, 150):
        await matches(journal, session.key, events[:150], until)
    await append_all(journal, session.key, events[150:], 7)
    for until in (299, 150, draw.randrange(300), draw.randrange(300), 500, 10**30):
        await matches(journal, session.key, events, until)
    assert await journal.totals.kinds(session.key) == tuple(each.kind for each in events)
    assert await journal.totals.usage(session.key, limits=LIMITS) == summed(events)
    one = Usage("m", 1, 0, 0, 0)
    last = dataclasses.replace(new_event("last"), usage=one)
    await journal.events.append(session.key, last, None)
    assert await journal.totals.usage(session.key, limits=LIMITS) == summed([*events, last])


@pytest.mark.parametrize("seed", range(3))
async def test_totals_of_any_range_are_the_plain_sums(
    journal: Journal, session: SessionRow, seed: int
) -> None:
    draw = random.Random(seed)
    events = [answer(draw, number) for number in range(1, 500)]
    await append_all(journal, session.key, events, 7)
    ranges = [(1, 1), (1, 499), (2, 498)]
    for _ in range(30):
        first = draw.randrange(1, 500)
        ranges.append((first, draw.randrange(first, 500)))
    sums = await journal.totals.ranges(session.key, ranges, limits=LIMITS)
    for (first, last), each in zip(ranges, sums, strict=True):
        inside = events[first - 1 : last]
        tokens = [event.tokens for event in inside if event.usage]
        assert each.events == len(inside)
        assert list(each.usage) == summed(inside)
        assert each.tokens == (sum(tokens) if tokens else None)
        assert each.held == sum(event.paused for event in inside)


async def test_time_as_of_an_event_adds_earlier_runs_and_its_own_so_far(
    journal: Journal, session: SessionRow
) -> None:
    clock = iter([10.0, 20.0, 30.0, 50.0])
    journal.runs._clock = lambda: next(clock)
    events = [
        dataclasses.replace(new_event(f"e{n}", timestamp=at), paused=held)
        for n, (at, held) in enumerate([(12.0, 0.5), (19.0, 0.0), (33.0, 1.0), (44.0, 2.0)])
    ]
    await append_all(journal, session.key, events, 2)
    rows = await journal.events.since(session.key, 0)
    at = [await journal.totals.seconds_at(row) for row in rows]
    times = [(1.5, 0.5), (8.5, 0.5), (9.75 + 2.0, 1.25), (9.75 + 11.0, 3.25)]
    assert at == [Durations(*each) for each in times]
    assert await journal.totals.seconds(session.key) == Durations(9.75 + 19.75, 0.5)
    await journal.events.append(session.key, new_event("alone", timestamp=60.0), None)
    alone = (await journal.events.since(session.key, 0))[-1]
    assert await journal.totals.seconds_at(alone) == Durations(29.5, 0.5)


async def steps(journal: Journal, row: EventRow) -> int:
    """Return the steps of SQLite's virtual machine, in tens, for the totals as of an event."""
    ListeningConnection.steps = 0
    await journal.totals.usage(row.session, limits=LIMITS, until=row.number)
    await journal.totals.tokens(row.session, row.number)
    await journal.totals.seconds_at(row)
    await journal.totals.kinds(row.session)
    await journal.totals.invocations(row.session, [row.number], limits=LIMITS, until=row.number)
    return ListeningConnection.steps


@pytest.mark.req("R48")
async def test_totals_cost_no_more_in_a_long_session(tmp_path: Path) -> None:
    draw, costs = random.Random(1), []
    async with await Journal.open(tmp_path, factory=ListeningConnection) as journal:
        for count in (100, 2_000):
            session = await journal.sessions.create("travel", "ada", None, {})
            await append_all(
                journal, session.key, [answer(draw, n) for n in range(1, count + 1)], 10
            )
            row, _ = (await journal.events.bodies(session.key, [count - 5]))[0]
            first, again = await steps(journal, row), await steps(journal, row)
            costs.append(again)
    assert max(costs) < MOST_STEPS < first, (costs, first)
