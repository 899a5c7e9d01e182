"""Every journal knows which events rewind a session, whatever version created it."""

from pathlib import Path

from devui.debugger.runs.commit import event_of
from devui.store.journal import Journal
from devui.store.rows import NewEvent, NewFork, Rewind
from devui.wire.events import Event
from tests.store.old_journals import of_version

BEFORE = 18
"""The last version that did not store rewinds."""


def event(number: int, invocation: str, before: str | None = None) -> NewEvent:
    """Return an event of an invocation, or a rewind to before another one."""
    actions = {"rewindBeforeInvocationId": before} if before else {"stateDelta": {"n": number}}
    event_json = {
        "id": f"e{number}",
        "invocationId": invocation,
        "author": "user",
        "timestamp": float(number),
        "actions": actions,
    }
    return event_of(Event.of(event_json), final=False)


HISTORY = [
    event(1, "a"),
    event(2, "b"),
    event(3, "b"),
    event(4, "r1", "b"),
    event(5, "r2", "nobody"),
    event(6, "r3", "r1"),
]
FOUND = [Rewind(4, 2), Rewind(5, 5), Rewind(6, 4)]


async def make_journal(path: Path) -> int:
    """Create a journal with `HISTORY`; return the key of its session."""
    async with await Journal.open(path) as journal:
        session = (await journal.sessions.create("travel", "ada", "s1", {})).key
        for new in HISTORY:
            await journal.events.append(session, new, None)
        return session


async def test_rewinds_are_found_now_as_of_an_event_and_in_a_fork(tmp_path: Path) -> None:
    session = await make_journal(tmp_path)
    async with await Journal.open(tmp_path) as journal:
        assert await journal.events.rewinds(session) == FOUND
        assert await journal.events.rewinds(session, until=5) == FOUND[:2]
        fork = await journal.forks.make(session, NewFork(number=5, id="fork", reason="same"))
        assert await journal.events.rewinds(fork.key) == FOUND[:2]
        await journal.sessions.delete(session)
        assert await journal.events.rewinds(session) == []


async def test_rewinds_are_found_in_a_journal_from_before_they_were_stored(tmp_path: Path) -> None:
    session = await make_journal(tmp_path / "new")
    old = of_version(BEFORE, tmp_path / "new", tmp_path / "old")
    async with await Journal.open(old) as journal:
        assert await journal.events.rewinds(session) == FOUND
