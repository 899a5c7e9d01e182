import itertools
from dataclasses import replace
from typing import get_args

import pytest

from devui.store.errors import (
    BadValue,
    RunActive,
    RunExists,
    RunNotFound,
    RunTransition,
    SessionNotFound,
    StaleSession,
)
from devui.store.journal import Journal
from devui.store.rows import OutputLine, RunStatus, SessionRow
from tests.store.kit import new_event

STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
ENDS = {"done", "failed", "stopped", "interrupted"}
LEGAL = {
    ("running", "running"),
    ("running", "stopping"),
    *(("running", end) for end in ENDS),
    *(("stopping", end) for end in ENDS),
}


async def test_a_run_starts_as_running(journal: Journal, session: SessionRow) -> None:
    row = await journal.runs.start("r1", session.key, invocation_id="i1")
    assert (row.status, row.invocation_id, row.ended, row.error) == ("running", "i1", None, None)
    assert await journal.runs.get("r1") == await journal.runs.active(session.key) == row
    assert await journal.runs.get("r2") is None


async def test_a_session_has_one_active_run(journal: Journal, session: SessionRow) -> None:
    await journal.runs.start("r1", session.key)
    with pytest.raises(RunActive, match="'r1', which is running"):
        await journal.runs.start("r2", session.key)
    await journal.runs.change("r1", "stopping")
    with pytest.raises(RunActive):
        await journal.runs.start("r2", session.key)
    await journal.runs.change("r1", "stopped")
    await journal.runs.start("r2", session.key)
    assert [run.id for run in await journal.runs.list(session.key)] == ["r2", "r1"]


async def test_a_run_needs_a_session_and_a_unique_id(journal: Journal, session: SessionRow) -> None:
    with pytest.raises(SessionNotFound):
        await journal.runs.start("r1", 99)
    await journal.runs.start("r1", session.key)
    other = await journal.sessions.create("travel", "ada", "s2", {})
    with pytest.raises(RunExists, match="'r1'"):
        await journal.runs.start("r1", other.key)
    with pytest.raises(BadValue):
        await journal.runs.start("\ud800", other.key)


@pytest.mark.parametrize(("before", "after"), list(itertools.product(STATUSES, STATUSES)))
async def test_only_legal_status_changes_are_made(
    journal: Journal, session: SessionRow, before: RunStatus, after: RunStatus
) -> None:
    await journal.runs.start("r1", session.key)
    if before != "running":
        await journal.runs.change("r1", before)
    if (before, after) in LEGAL:
        row = await journal.runs.change("r1", after)
        assert row.status == after
        assert (row.ended is not None) == (after in ENDS)
        return
    with pytest.raises(RunTransition, match=f"is {before} and cannot become '{after}'"):
        await journal.runs.change("r1", after)
    row = await journal.runs.get("r1") or pytest.fail("the run is gone")
    assert row.status == before


async def test_a_change_keeps_the_fields_it_does_not_name(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    await journal.runs.change("r1", "running", invocation_id="i1")
    row = await journal.runs.change("r1", "failed", error='{"message":"no"}')
    assert (row.invocation_id, row.error) == ("i1", '{"message":"no"}')
    with pytest.raises(RunNotFound, match="'r9'"):
        await journal.runs.change("r9", "done")


async def test_a_run_keeps_the_users_message_until_it_is_committed(
    journal: Journal, session: SessionRow
) -> None:
    row = await journal.runs.start("r1", session.key, message='{"parts":[]}')
    assert row.message == '{"parts":[]}'
    await journal.events.append(session.key, replace(new_event("e1"), author="agent"), "r1")
    assert (await journal.runs.get("r1") or row).message == '{"parts":[]}'
    await journal.events.append(session.key, replace(new_event("e2"), author="user"), "r1")
    run = await journal.runs.get("r1") or row
    assert (run.message, run.invocation_id) == (None, new_event("e2").invocation_id)


async def test_a_stopped_run_keeps_its_unfinished_text(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    await journal.runs.change("r1", "stopping", unfinished='["so far"]')
    assert (await journal.runs.change("r1", "stopped")).unfinished == '["so far"]'


async def test_changes_since_a_seq_come_in_order(journal: Journal, session: SessionRow) -> None:
    first = await journal.runs.start("r1", session.key)
    done = await journal.runs.change("r1", "done")
    second = await journal.runs.start("r2", session.key)
    assert await journal.runs.since(session.key, first.seq) == [done, second]
    assert await journal.runs.since(session.key, second.seq) == []
    assert await journal.runs.since(session.key, first.seq, until=second.seq) == [done]


@pytest.mark.req("R55")
async def test_active_runs_are_interrupted_once(journal: Journal, session: SessionRow) -> None:
    other = await journal.sessions.create("travel", "ada", "s2", {})
    await journal.runs.start("r0", session.key)
    await journal.runs.change("r0", "done")
    await journal.runs.start("r1", session.key)
    await journal.runs.start("r2", other.key)
    await journal.runs.change("r2", "stopping")
    runs = await journal.runs.interrupt_active()
    assert [(run.id, run.status) for run in runs] == [
        ("r1", "interrupted"),
        ("r2", "interrupted"),
    ]
    assert len({run.seq for run in runs}) == 2
    assert await journal.runs.interrupt_active() == []
    assert await journal.runs.active(session.key) is None


async def test_an_interrupted_run_ends_at_its_last_activity(
    journal: Journal, session: SessionRow
) -> None:
    started = (await journal.runs.start("r0", session.key)).started
    await journal.runs.interrupt_active()

    async def ended(run: str) -> float:
        [row] = await journal.runs.interrupt_active()
        assert row.id == run
        return (row.ended or 0.0) - row.started

    await journal.runs.start("r1", session.key)
    assert await ended("r1") == 0.0
    await journal.runs.start("r2", session.key)
    await journal.runs.add_output("r2", [OutputLine("stdout", "so far", started + 1e9)])
    assert 0.0 < await ended("r2") < 1e9  # never later than now


async def test_output_is_numbered_in_order(journal: Journal, session: SessionRow) -> None:
    await journal.runs.start("r1", session.key)
    lines = [OutputLine("stdout", f"line {number}", float(number)) for number in range(5)]
    await journal.runs.add_output("r1", lines[:3])
    await journal.runs.add_output("r1", lines[3:])
    assert await journal.runs.output("r1") == list(enumerate(lines, 1))
    assert await journal.runs.output("r1", after=2, limit=2) == [(3, lines[2]), (4, lines[3])]
    assert await journal.runs.last_output("r1", 2) == [(4, lines[3]), (5, lines[4])]
    with pytest.raises(RunNotFound):
        await journal.runs.add_output("r9", lines)


async def test_output_is_never_refused(journal: Journal, session: SessionRow) -> None:
    await journal.runs.start("r1", session.key)
    await journal.runs.add_output("r1", [OutputLine("stderr", "a\0b\udc80\tc", 0.0)])
    [(_, line)] = await journal.runs.output("r1")
    assert line.text == "a\\x00b\\udc80\tc"


async def test_the_position_of_a_run_is_kept_until_it_is_forgotten(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    assert await journal.runs.position("r1") is None
    await journal.runs.keep_position("r1", '["first"]')
    await journal.runs.keep_position("r1", '["second"]')
    await journal.runs.interrupt_active()
    assert await journal.runs.position("r1") == '["second"]'
    await journal.runs.forget_position("r1")
    await journal.runs.forget_position("r1")
    assert await journal.runs.position("r1") is None


async def test_a_position_needs_a_run_and_is_deleted_with_its_session(
    journal: Journal, session: SessionRow
) -> None:
    with pytest.raises(RunNotFound):
        await journal.runs.keep_position("none", "[]")
    await journal.runs.start("r1", session.key)
    await journal.runs.keep_position("r1", "[]")
    await journal.runs.change("r1", "done")
    await journal.sessions.delete(session.key)
    assert await journal.runs.position("r1") is None


async def test_a_run_does_not_start_after_a_newer_user_message(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r1", session.key)
    question = await journal.events.append(session.key, new_event("asks"), run="r1")
    await journal.runs.change("r1", "done")
    await journal.runs.start("r2", session.key, last_seen=question.seq)
    answer = replace(new_event("said"), author="user")
    message = await journal.events.append(session.key, answer, run="r2")
    await journal.events.append(session.key, new_event("told"), run="r2")
    await journal.runs.change("r2", "done")
    with pytest.raises(StaleSession, match=f"#{message.number}"):
        await journal.runs.start("r3", session.key, last_seen=question.seq)
    await journal.runs.start("r3", session.key, last_seen=message.seq)
