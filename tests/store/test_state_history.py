"""The history of one key: every write, who made it, and where the next one is."""

from devui.store.journal import Journal
from devui.store.rows import NewFork
from tests.store.kit import event_with, new_event


async def test_every_write_of_a_key_has_its_event(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"plan": 0})
    for number, delta in enumerate(({"plan": 1}, {"other": 1}, {"plan": None}), 1):
        await journal.events.append(row.key, event_with(delta, f"e{number}"), None)
    writes = await journal.histories.writes(row.key, "session", "plan", limit=10)
    history = [(w.value, w.began, w.event.number if w.event else None) for w in writes]
    assert history == [("0", row.key, None), ("1", None, 1), ("null", None, 3)]
    newest = await journal.histories.writes(row.key, "session", "plan", limit=1)
    assert newest == writes[-1:]
    early = await journal.histories.writes(
        row.key, "session", "plan", until=writes[1].seq, limit=10
    )
    assert early == writes[:2]


async def test_writes_of_other_sessions_are_attributed_to_them(journal: Journal) -> None:
    mine = await journal.sessions.create("travel", "ada", "mine", {})
    other = await journal.sessions.create("travel", "ada", "other", {"user:name": "A"})
    stranger = await journal.sessions.create("travel", "bob", "bobs", {"user:name": "Bob"})
    await journal.events.append(mine.key, event_with({"user:name": "Ada"}, "m1"), None)
    await journal.events.append(other.key, event_with({"user:name": "L"}, "o1"), None)
    await journal.events.append(stranger.key, event_with({"app:rate": 2}, "b1"), None)

    writes = await journal.histories.writes(mine.key, "user", "name", limit=10)
    by = [(w.value, w.event.session if w.event else None, w.began) for w in writes]
    assert by == [
        ('"A"', None, other.key),
        ('"Ada"', mine.key, None),
        ('"L"', other.key, None),
    ]
    [rate] = await journal.histories.writes(mine.key, "app", "rate", limit=10)
    assert rate.event is not None
    assert rate.event.session == stranger.key
    assert await journal.histories.writes(mine.key, "session", "name", limit=10) == []
    await journal.sessions.delete(other.key)
    *_, last = await journal.histories.writes(mine.key, "user", "name", limit=10)
    assert (last.value, last.event) == ('"L"', None)


async def test_a_fork_has_the_history_up_to_the_fork(journal: Journal) -> None:
    parent = await journal.sessions.create("travel", "ada", "s1", {"plan": 0})
    for number in (1, 2, 3):
        await journal.events.append(parent.key, new_event(f"e{number}", plan=number), None)
    fork = await journal.forks.make(parent.key, NewFork(number=2, id="f", reason="same"))
    await journal.events.append(fork.key, new_event("own", plan=9), None)
    writes = await journal.histories.writes(fork.key, "session", "plan", limit=10)
    history = [(w.value, w.began, w.event.number if w.event else None) for w in writes]
    assert history == [("0", fork.key, None), ("1", None, 1), ("2", None, 2), ("9", None, 3)]
    assert all(w.event.session == fork.key for w in writes if w.event)


async def test_the_previous_and_the_next_write_are_those_of_this_session(journal: Journal) -> None:
    mine = await journal.sessions.create("travel", "ada", "mine", {"user:n": 0})
    other = await journal.sessions.create("travel", "ada", "other", {})
    seqs = []
    for number, delta in enumerate(({"user:n": 1}, {"a": 1}, {"user:n": 2}), 1):
        done = await journal.events.append(mine.key, event_with(delta, f"e{number}"), None)
        seqs.append(done.seq)
    await journal.events.append(other.key, event_with({"user:n": 3}, "o1"), None)
    place = (mine.key, "user", "n")
    assert await journal.histories.previous(*place, seqs[1]) == 1
    assert await journal.histories.next(*place, seqs[1]) == 3
    assert await journal.histories.previous(*place, seqs[0]) is None
    assert await journal.histories.next(*place, seqs[2]) is None
    assert await journal.histories.previous(*place, 2**63) == 3


async def test_a_moment_is_just_after_an_event_or_before_the_first(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"a": 0})
    done = await journal.events.append(row.key, new_event("e1", a=1), None)
    assert await journal.state.moment(row.key, 1) == done.seq
    begin = await journal.state.moment(row.key, 0)
    [initial] = await journal.state.at(row.key, begin)
    assert (initial.value, initial.initial) == ("0", True)
    assert await journal.state.moment(row.key, 2) is None
    assert await journal.state.moment(99, 0) is None
