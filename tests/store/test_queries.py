import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from devui.store.journal import Journal
from devui.store.rows import NewTouch
from tests.store.kit import ListeningConnection, append_many, event_with, new_event

SMALL, LARGE = 40, 2_000

Read = Callable[[Journal, int], Awaitable[Any]]

READS: dict[str, Read] = {
    "the last page": lambda j, key: j.events.page(key, limit=20),
    "a page in the middle": lambda j, key: j.events.page(key, before=30, limit=20),
    "the next page": lambda j, key: j.events.page(key, after=10, limit=20),
    "one event": lambda j, key: j.events.body(key, 7),
    "some events": lambda j, key: j.events.bodies(key, [3, 9, 11]),
    "some rows": lambda j, key: j.events.rows(key, [3, 9, 11]),
    "an invocation": lambda j, key: j.events.rows_of_invocation(key, "i2"),
    "where a text is": lambda j, key: j.events.holding(key, "hello", first=3, last=9),
    "what follows": lambda j, key: j.events.following(key, 10, 5),
    "the counts": lambda j, key: j.events.counts(key),
    "the failures": lambda j, key: j.events.failures(key),
    "the chunks of an event": lambda j, key: j.events.chunks(key, "e3"),
    "the state now": lambda j, key: j.state.at(key),
    "the state of old": lambda j, key: j.state.at(key, 12),
    "the changes of an event": lambda j, key: j.state.changes(key, 5),
    "the last writes of a key": lambda j, key: j.histories.writes(key, "session", "a", limit=5),
    "the previous write": lambda j, key: j.histories.previous(key, "session", "a", 20),
    "the next write": lambda j, key: j.histories.next(key, "session", "a", 20),
    "what events wrote": lambda j, key: j.histories.deltas(key, first=3, last=9, keys=["a"]),
    "a moment": lambda j, key: j.state.moment(key, 12),
    "the shared state": lambda j, key: j.state.shared(key),
    "the initial state": lambda j, key: j.sessions.initial_state(key),
    "a session": lambda j, key: j.sessions.get(key),
    "a session by name": lambda j, key: j.sessions.find("travel", "ada", "s1"),
    "a page of sessions": lambda j, key: j.sessions.list("travel", limit=20),
    "a user's sessions": lambda j, key: j.sessions.list("travel", "ada", limit=20),
    "recent sessions": lambda j, key: j.sessions.recent(5),
    "the active run": lambda j, key: j.runs.active(key),
    "changed runs": lambda j, key: j.runs.since(key, 0),
    "runs that were cut off": lambda j, key: j.runs.cut_off(key, 0, until=LARGE * 9, limit=9),
    "a run's output": lambda j, key: j.runs.output("r1"),
    "the end of a run's output": lambda j, key: j.runs.last_output("r1", 10),
    "artifact names": lambda j, key: j.artifacts.keys("travel", "ada", "s1"),
    "an artifact": lambda j, key: j.artifacts.load("travel", "ada", "s1", "a.txt"),
    "what a run wrote": lambda j, key: j.uncommitted.of_run("r1"),
    "what a session's runs wrote": lambda j, key: j.uncommitted.of_session(key, 10),
    "credentials": lambda j, key: j.replays.credentials(9),
    "an append": lambda j, key: j.events.append(key, new_event("new", a=1), None),
    "a start and its end": lambda j, key: start_and_end(j, key),
}


async def start_and_end(journal: Journal, key: int) -> None:
    await journal.runs.start("r2", key)
    await journal.runs.interrupt_active()


async def fill(path: Path, count: int) -> tuple[Journal, int]:
    journal = await Journal.open(path, factory=ListeningConnection)
    row = await journal.sessions.create("travel", "ada", "s1", {"a": 0, "user:b": 0})
    other = await journal.sessions.create("travel", "ada", "s2", {})
    await append_many(journal, row.key, count, a=1)
    await journal.events.append(other.key, event_with({"user:b": 1, "app:c": 1}), None)
    await journal.events.add_chunks(row.key, None, [("e3", "{}"), ("e4", "{}")])
    await journal.artifacts.save("travel", "ada", "s1", "a.txt", mime=None, text="x")
    await journal.runs.start("r1", row.key)
    await journal.runs.change("r1", "done")
    await journal.uncommitted.put(row.key, "r1", [NewTouch(1, "e3", None, "{}")])
    return journal, row.key


async def cost(journal: Journal, key: int, read: Read) -> int:
    """Return the steps of SQLite's virtual machine, in tens."""
    ListeningConnection.steps = 0
    await read(journal, key)
    return ListeningConnection.steps


@pytest.mark.req("R48")
async def test_reads_and_appends_cost_no_more_in_a_long_session(tmp_path: Path) -> None:
    small, small_key = await fill(tmp_path / "small", SMALL)
    large, large_key = await fill(tmp_path / "large", LARGE)
    dear = []
    for name, read in READS.items():
        before = await cost(small, small_key, read)
        after = await cost(large, large_key, read)
        if after > before * 1.3 + 5:
            dear.append(f"{name}: {before} tens of steps with {SMALL} events, {after} with {LARGE}")
    await small.close()
    await large.close()
    assert not dear, "\n".join(dear)


async def test_initial_values_of_many_sessions_are_found_in_one_pass(
    tmp_path: Path,
) -> None:
    journal = await Journal.open(tmp_path, factory=ListeningConnection)
    keys, costs = [], []
    for count in (15, 60):
        while len(keys) < count:
            row = await journal.sessions.create("travel", "ada", None, {"app:c": len(keys)})
            keys.append(row.key)
        for key in keys:  # so that its seq isn't that of its initial state
            await journal.sessions.rename(key, f"{count} sessions")
        ListeningConnection.steps = 0
        writes = await journal.histories.writes(keys[0], "app", "c", limit=count)
        costs.append(ListeningConnection.steps)
        assert [write.began for write in writes] == keys
    await journal.close()
    assert costs[1] < costs[0] * 6, costs


async def test_no_query_scans_a_table(tmp_path: Path) -> None:
    journal, key = await fill(tmp_path, SMALL)
    ListeningConnection.statements.clear()
    for read in READS.values():
        await read(journal, key)
    await journal.sessions.rename(key, "title")
    await journal.sessions.delete(key)
    scans = set()
    for sql in set(ListeningConnection.statements):
        if not re.match(r"\s*(WITH|SELECT|UPDATE|DELETE|INSERT)", sql):
            continue
        blank = [None] * len(re.findall(r"\?(?!\d)", sql) or set(re.findall(r"\?\d", sql)))
        plan = await journal._database._reader.execute_fetchall(f"EXPLAIN QUERY PLAN {sql}", blank)
        scans |= {(sql, detail) for *_, detail in plan if is_full_scan(detail)}
    await journal.close()
    assert not scans


def is_full_scan(detail: str) -> bool:
    """Whether a line of a query plan reads a whole table, other than the single-row journal."""
    match = re.match(r"SCAN (\w+)(?! USING)", detail)
    harmless = {"json_each", "keys", "mine", "holding", "journal", "CONSTANT"}
    return bool(match) and match[1] not in harmless and "USING INDEX" not in detail


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        ("SCAN events", True),
        ("SCAN sessions USING INDEX sessions_active", False),
        ("SEARCH events USING INDEX events_session (session=?)", False),
        ("SCAN json_each VIRTUAL TABLE INDEX 1:", False),
    ],
)
def test_is_full_scan_recognizes_scans(detail: str, expected: bool) -> None:
    assert is_full_scan(detail) is expected
