"""The journal against a model of plain lists: for every prefix, state is the fold of its deltas."""

import asyncio
import dataclasses
import json
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from devui.store import events, state
from devui.store.errors import (
    EventConflict,
    RunActive,
    RunNotActive,
    SessionExists,
    SessionNotFound,
)
from devui.store.journal import Journal
from devui.store.rows import Appended, NewEvent, NewFork
from tests.kit.rounds import rounds
from tests.store.kit import MEMORY_DISK, SEARCH, event_with

T = TypeVar("T")

KEYS = st.sampled_from(["a", "b", "user:a", "user:c", "app:a", "app:", "temp:t", "é"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=3,
).filter(lambda value: not has_surrogate(value))
STATES = st.dictionaries(KEYS, VALUES, max_size=4)
DELTAS = st.dictionaries(KEYS.filter(lambda key: not key.startswith("temp:")), VALUES, max_size=4)


def has_surrogate(value: Any) -> bool:
    return any(0xD800 <= ord(char) <= 0xDFFF for char in json.dumps(value, ensure_ascii=False))


@dataclasses.dataclass
class Session:
    """The model of one session."""

    key: int
    app: str
    user: str
    id: str
    events: list[tuple[int, NewEvent]] = dataclasses.field(default_factory=list)
    run: str | None = None
    alive: bool = True
    is_fork: bool = False

    def scoped(self, key: str) -> tuple[object, ...]:
        """Return the owner of a key together with the key: equal for sessions that share it."""
        if self.is_fork:
            return ("fork", self.key, key)
        if key.startswith("user:"):
            return ("user", self.app, self.user, key)
        if key.startswith("app:"):
            return ("app", self.app, key)
        return ("session", self.key, key)


class JournalMachine(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY_DISK)
        self.runner = asyncio.Runner()
        self.clock = 0.0
        self.known: list[Session] = []
        self.over: list[tuple[Session, str]] = []
        self.writes: list[tuple[int, Session, dict[str, Any]]] = []
        self.head = 0
        self.made = 0
        self.open()

    def open(self) -> None:
        self.journal = self.run(Journal.open(Path(self.folder.name), clock=lambda: self.clock))

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        try:
            for session in self.known:
                self.check_every_prefix(session)
        finally:
            self.run(self.journal.close())
            self.runner.close()
            self.folder.cleanup()

    def check_every_prefix(self, session: Session) -> None:
        for seq in range(self.head + 1):
            rows = self.run(self.journal.state.at(session.key, seq)) if session.alive else []
            prefix = {"session": "", "user": "user:", "app": "app:"}
            values = {prefix[v.scope] + v.key: json.loads(v.value) for v in rows}
            assert values == (self.folded(session, seq) if session.alive else {})

    def folded(self, session: Session, limit: int) -> dict[str, Any]:
        state: dict[str, Any] = {}
        for seq, writer, delta in self.writes:
            for key, value in delta.items():
                if seq <= limit and writer.scoped(key) == session.scoped(key):
                    state[key] = value
        return state

    @rule(
        target=sessions,
        app=st.sampled_from(["travel", "weather"]),
        user=st.sampled_from(["ada", "bob"]),
        name=st.sampled_from(["s1", "s2", "s3"]),
        state=STATES,
    )
    def create(self, app: str, user: str, name: str, state: dict[str, Any]) -> Any:
        is_taken = any((s.app, s.user, s.id) == (app, user, name) for s in self.known if s.alive)
        creation = self.journal.sessions.create(app, user, name, state)
        if is_taken:
            with pytest.raises(SessionExists):
                self.run(creation)
            return multiple()
        row = self.run(creation)
        self.head += 1
        assert (row.seq, row.created) == (self.head, self.clock)
        assert row.key not in {s.key for s in self.known}
        session = Session(row.key, app, user, name)
        lasting = {key: value for key, value in state.items() if not key.startswith("temp:")}
        assert self.run(self.journal.sessions.initial_state(row.key)) == lasting
        self.known.append(session)
        self.writes.append((self.head, session, lasting))
        return session

    @rule(session=sessions, delta=DELTAS, under_run=st.booleans())
    def append(self, session: Session, delta: dict[str, Any], under_run: bool) -> None:
        self.made += 1
        event = event_with(delta, f"e{self.made}", timestamp=self.clock)
        appending = self.journal.events.append(
            session.key, event, (session.run or "none") if under_run else None
        )
        if not session.alive:
            with pytest.raises(SessionNotFound):
                self.run(appending)
        elif under_run and session.run is None:
            with pytest.raises(RunNotActive):
                self.run(appending)
        elif not under_run and session.run is not None:
            with pytest.raises(RunActive):
                self.run(appending)
        else:
            self.head += 1
            session.events.append((self.head, event))
            self.writes.append((self.head, session, delta))
            assert self.run(appending) == Appended(self.head, len(session.events), duplicate=False)

    @rule(target=sessions, parent=sessions, data=st.data())
    def fork(self, parent: Session, data: st.DataObject) -> Any:
        """A fork has its parent's state as of every event; the parent is unchanged."""
        number = data.draw(st.integers(0, len(parent.events)))
        self.made += 1
        new_fork = NewFork(number=number, id=f"f{self.made}", reason="same")
        if not parent.alive:
            with pytest.raises(SessionNotFound):
                self.run(self.journal.forks.make(parent.key, new_fork))
            return multiple()
        whole = self.everything_of(parent)
        row = self.run(self.journal.forks.make(parent.key, new_fork))
        assert self.everything_of(parent) == whole
        session = Session(row.key, parent.app, parent.user, row.id, is_fork=True)
        self.known.append(session)
        begins = self.run(self.journal.sessions.initial_state(row.key))
        self.writes.append((self.head + 1, session, begins))
        for place, (seq, event) in enumerate(parent.events[:number], 1):
            here = self.head + 1 + 2 * place
            session.events.append((here, event))
            there = self.folded(parent, seq)
            before = self.folded(session, here)
            delta = {k: v for k, v in there.items() if k not in before or before[k] != v}
            # What others wrote between two events isn't attributed to the later event.
            foreign = {k: v for k, v in delta.items() if k not in event.state_delta}
            self.writes.append((here - 1, session, foreign))
            self.writes.append((here, session, dict(event.state_delta)))
        self.head += 1 + 2 * number
        cut = parent.events[number - 1][0] if number else None
        merged = self.run(self.journal.state.merged(row.key))
        assert merged == (self.folded(parent, cut) if cut else begins)
        texts = [event.data for _, event in parent.events[:number]]
        assert self.run(self.texts(row.key)) == texts
        return session

    def everything_of(self, session: Session) -> Any:
        """Return everything the journal has of a session."""
        state = [self.run(self.journal.state.at(session.key, n)) for n in range(self.head + 1)]
        rows = self.run(self.journal.events.since(session.key, 0))
        row = self.run(self.journal.sessions.get(session.key))
        return row, rows, state, self.run(self.texts(session.key))

    async def texts(self, key: int) -> list[str]:
        return [text async for text in self.journal.events.json(key)]

    @rule(session=sessions, data=st.data(), changed=st.booleans())
    def append_again(self, session: Session, data: st.DataObject, changed: bool) -> None:
        if not session.alive or not session.events:
            return
        number = data.draw(st.integers(1, len(session.events)))
        seq, event = session.events[number - 1]
        if changed:
            other = dataclasses.replace(event, data=event.data + " ")
            with pytest.raises(EventConflict):
                self.run(self.journal.events.append(session.key, other, None))
        else:
            again = self.run(self.journal.events.append(session.key, event, None))
            assert again == Appended(seq, number, duplicate=True)

    @rule(session=sessions)
    def start_or_end_a_run(self, session: Session) -> None:
        if not session.alive:
            return
        if session.run is None:
            self.made += 1
            session.run = f"r{self.made}"
            self.run(self.journal.runs.start(session.run, session.key))
        else:
            with pytest.raises(RunActive):
                self.run(self.journal.runs.start("another", session.key))
            self.run(self.journal.runs.change(session.run, "done"))
            self.over.append((session, session.run))
            session.run = None
        self.head += 1

    @rule(data=st.data())
    def append_under_a_run_that_is_over(self, data: st.DataObject) -> None:
        """A run that was interrupted or has ended can't write."""
        if self.over:
            session, run = data.draw(st.sampled_from(self.over))
            with pytest.raises(RunNotActive if session.alive else SessionNotFound):
                self.run(self.journal.events.append(session.key, event_with({"a": 1}, "late"), run))

    @rule(session=sessions, title=st.none() | st.just("title"))
    def rename(self, session: Session, title: str | None) -> None:
        renaming = self.journal.sessions.rename(session.key, title)
        if not session.alive:
            with pytest.raises(SessionNotFound):
                self.run(renaming)
            return
        self.head += 1
        assert self.run(renaming).seq == self.head

    @rule(session=consumes(sessions))
    def delete(self, session: Session) -> None:
        if session.alive and session.run is not None:
            with pytest.raises(RunActive):
                self.run(self.journal.sessions.delete(session.key))
            return
        assert self.run(self.journal.sessions.delete(session.key)) is session.alive
        session.alive = False

    @rule()
    def reopen(self) -> None:
        self.run(self.journal.close())
        self.open()
        for row in self.run(self.journal.runs.interrupt_active()):
            [owner] = [session for session in self.known if session.run == row.id and session.alive]
            self.over.append((owner, row.id))
            owner.run = None
            self.head += 1

    @rule(step=st.sampled_from([-3600.0, 0.0, 1.0, 315_360_000.0]))
    def step_the_clock(self, step: float) -> None:
        self.clock += step

    @invariant()
    def events_are_numbered_without_gaps(self) -> None:
        for session in self.known:
            rows = self.run(self.journal.events.since(session.key, 0))
            expected = session.events if session.alive else []
            assert [(row.seq, row.number, row.id) for row in rows] == [
                (seq, number, event.id) for number, (seq, event) in enumerate(expected, 1)
            ]

    @invariant()
    def state_is_the_fold_of_the_deltas(self) -> None:
        for session in self.known:
            merged = self.run(self.journal.state.merged(session.key))
            assert merged == (self.folded(session, self.head) if session.alive else {})

    @invariant()
    def the_head_counts_every_change(self) -> None:
        assert self.run(self.journal.head()) == self.head


def play(examples: int, **more: Any) -> None:
    run_state_machine_as_test(
        JournalMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )


@pytest.mark.req("R36")
@pytest.mark.req("R37")
@pytest.mark.req("R38")
@pytest.mark.req("R47")
def test_the_journal_behaves_like_its_model() -> None:
    play(rounds(15, 40))


def _before_the_moment(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(state, "_AT", state._AT.replace("earlier.seq <= ?1", "earlier.seq < ?1"))


def _no_lease(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(events, "_check_lease", lambda *_, **__: None)


@pytest.mark.req("R36")
@pytest.mark.req("R38")
@pytest.mark.parametrize("plant", [_before_the_moment, _no_lease])
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        play(50, **SEARCH)
