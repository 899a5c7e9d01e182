"""Forks: the committed prefix of a session as a session of its own."""

import sqlite3
from pathlib import Path

import pytest

from devui.store.errors import EventNotFound, SessionExists
from devui.store.events import history
from devui.store.journal import Journal
from devui.store.rows import NewFork, SessionRow
from tests.store.kit import append_many, new_event


def at(number: int, name: str = "fork", **more: str) -> NewFork:
    return NewFork(number=number, id=name, reason="same", **more)


async def numbers(journal: Journal, key: int) -> list[tuple[int, str]]:
    return [(row.number, row.id) for row in await journal.events.since(key, 0)]


def everything(path: Path) -> list[object]:
    """Return every row of every table of the file."""
    with sqlite3.connect(path) as connection:
        names = [
            n for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        return [(name, connection.execute(f"SELECT * FROM {name}").fetchall()) for name in names]


async def test_a_fork_starts_with_the_committed_events_and_diverges(
    journal: Journal, session: SessionRow
) -> None:
    await append_many(journal, session.key, 4, n=1)
    await journal.events.add_chunks(session.key, None, [("e2", "{}"), ("e4", "{}")])
    fork = await journal.forks.make(session.key, at(3))
    assert (fork.events, fork.app, fork.user) == (3, session.app, session.user)
    assert await numbers(journal, fork.key) == [(1, "e1"), (2, "e2"), (3, "e3")]
    assert await journal.events.counts(fork.key) == {"text": 3}
    assert await journal.events.chunks(fork.key, "e2") == ["{}"]
    done = await journal.events.append(fork.key, new_event("e4", text="another", n=2), None)
    assert done.number == 4
    assert await journal.state.merged(fork.key) == {"n": 2}
    assert await journal.state.merged(session.key) == {"n": 1}
    row = await journal.forks.get(fork.key)
    assert row is not None
    assert (row.parent, row.number, row.reason) == (session.key, 3, "same")
    assert [each.session for each in await journal.forks.of(session.key)] == [fork.key]
    assert await journal.forks.get(session.key) is None


async def test_a_fork_has_its_own_copy_of_shared_state(journal: Journal) -> None:
    first = await journal.sessions.create("app", "ada", "s1", {"user:name": "Ada"})
    other = await journal.sessions.create("app", "ada", "s2", {})
    await journal.events.append(first.key, new_event("e1", **{"app:rate": 1}), None)
    await journal.events.append(other.key, new_event("e1", **{"user:name": "Elsewhere"}), None)
    await journal.events.append(first.key, new_event("e2"), None)
    fork = await journal.forks.make(first.key, at(2))
    early = await journal.forks.make(first.key, at(1, "early"))
    await journal.events.append(fork.key, new_event("e3", **{"user:name": "Fork"}), None)
    await journal.events.append(first.key, new_event("e3", **{"app:rate": 9}), None)
    assert await journal.state.shared(fork.key) == {"user:name": "Fork", "app:rate": 1}
    assert await journal.state.shared(early.key) == {"user:name": "Ada", "app:rate": 1}
    assert await journal.state.shared(first.key) == {"user:name": "Elsewhere", "app:rate": 9}
    # The change by the other session isn't attributed to an event here, either.
    assert await journal.state.changes(fork.key, 2) == []
    [name] = [v for v in await journal.state.at(fork.key, fork.seq) if v.key == "name"]
    assert (name.value, name.number) == ('"Elsewhere"', None)


async def test_a_fork_has_the_files_of_that_time_and_shares_their_content(
    journal: Journal, session: SessionRow
) -> None:
    where = (session.app, session.user, session.id)
    await journal.artifacts.save(*where, "a.txt", mime="text/plain", text="first")
    await journal.artifacts.save(*where, "user:b", mime="text/plain", text="of the user")
    await journal.events.append(session.key, new_event("e1"), None)
    await journal.artifacts.save(*where, "a.txt", mime="text/plain", text="second")
    fork = await journal.forks.make(session.key, at(1))
    there = (fork.app, fork.user, fork.id)
    assert await journal.artifacts.keys(*there) == ["a.txt", "user:b"]
    first = await journal.artifacts.load(*there, "a.txt")
    assert first is not None
    assert first.text == "first"
    assert await journal.artifacts.save(*there, "a.txt", mime=None, text="forked") == 1
    assert await journal.artifacts.save(*there, "user:b", mime=None, text="forked") == 1
    assert len(await journal.artifacts.versions(*where, "user:b")) == 1
    with sqlite3.connect(journal.path / "journal.db") as connection:
        assert connection.execute("SELECT count(*) FROM contents").fetchall() == [(5,)]
    await journal.sessions.delete(session.key)
    oldest = await journal.artifacts.load(*there, "a.txt", version=0)
    assert oldest is not None
    assert oldest.text == "first"
    await journal.sessions.delete(fork.key)
    with sqlite3.connect(journal.path / "journal.db") as connection:
        assert connection.execute("SELECT text FROM contents").fetchall() == [("of the user",)]


async def test_a_fork_of_no_events_has_nothing_that_came_later(
    journal: Journal, session: SessionRow
) -> None:
    """Another session's write and a file come before the first event."""
    where = (session.app, session.user, session.id)
    await journal.sessions.create(session.app, session.user, "other", {"user:name": "Elsewhere"})
    await journal.artifacts.save(*where, "a.txt", mime=None, text="a")
    await journal.events.append(session.key, new_event("e1"), None)
    fork = await journal.forks.make(session.key, at(1))
    again = await journal.forks.make(fork.key, at(1, "again"))
    early = await journal.forks.make(fork.key, at(0, "early"))
    for each, state, files in (
        (again, {"user:name": "Elsewhere"}, ["a.txt"]),
        (early, {}, []),
    ):
        assert await journal.state.merged(each.key) == state
        assert await journal.artifacts.keys(each.app, each.user, each.id) == files


async def test_forking_does_not_change_the_parent(journal: Journal, session: SessionRow) -> None:
    await append_many(journal, session.key, 5, a=1, **{"user:b": 2})
    before = everything(journal.path / "journal.db")
    fork = await journal.forks.make(session.key, at(4))
    await journal.events.append(fork.key, new_event("e9", a=3, **{"user:b": 4}), None)
    await journal.sessions.delete(fork.key)
    after = everything(journal.path / "journal.db")
    counters = {"journal", "sqlite_sequence"}
    assert [t for t in after if t[0] not in counters] == [t for t in before if t[0] not in counters]


async def test_a_fork_can_start_with_a_changed_history(
    journal: Journal, session: SessionRow
) -> None:
    await append_many(journal, session.key, 3, a=1)
    changed = history([new_event("e3", text="edited", a=7)])
    fork = await journal.forks.make(session.key, at(2), history=changed)
    assert await numbers(journal, fork.key) == [(1, "e1"), (2, "e2"), (3, "e3")]
    assert await journal.state.merged(fork.key) == {"a": 7}
    assert await journal.state.merged(session.key) == {"a": 1}


async def test_a_fork_of_no_events_has_the_initial_state(journal: Journal) -> None:
    row = await journal.sessions.create("app", "u", "s", {"a": 1, "user:b": 2})
    await journal.events.append(row.key, new_event("e1", a=3), None)
    fork = await journal.forks.make(row.key, at(0))
    assert await journal.state.merged(fork.key) == {"a": 1, "user:b": 2}
    assert fork.events == 0


async def test_a_fork_knows_the_invocation_that_it_cuts_short(
    journal: Journal, session: SessionRow
) -> None:
    await journal.runs.start("r", session.key, invocation_id="i1")
    for name in ("e1", "e2", "e3"):
        await journal.events.append(session.key, new_event(name), "r")
    running = await journal.forks.make(session.key, at(3, "running"))
    await journal.runs.change("r", "done")
    cut = await journal.forks.make(session.key, at(2, "cut"))
    whole = await journal.forks.make(session.key, at(3, "whole"))
    again = await journal.forks.make(cut.key, at(2, "again"))
    forks = await journal.forks.among([running.key, cut.key, whole.key, again.key, session.key])
    assert {key: row.invocation for key, row in forks.items()} == {
        running.key: "i1",
        cut.key: "i1",
        whole.key: None,
        again.key: "i1",
    }
    assert await journal.forks.close(cut.key) is True
    assert await journal.forks.close(cut.key) is False


async def test_an_impossible_fork_is_refused(journal: Journal, session: SessionRow) -> None:
    await append_many(journal, session.key, 2)
    with pytest.raises(EventNotFound, match="no event #3: it has 2"):
        await journal.forks.make(session.key, at(3))
    with pytest.raises(SessionExists):
        await journal.forks.make(session.key, at(1, session.id))
