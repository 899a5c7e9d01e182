"""Every session store agrees with plain lists: in memory, in a file, a shared file, the journal.

The same state machine runs against each of them, and then against stores with a planted bug, which
it has to find.
"""

import asyncio
import copy
import itertools
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from google.genai import types
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from devui.runtime.errors import StaleSessionError
from devui.runtime.events import Event, EventActions
from devui.runtime.platform.time import set_time_provider
from devui.runtime.sessions import Session
from devui.runtime.sessions.base_session_service import GetSessionConfig
from tests.kit.rounds import rounds
from tests.store.kit import MEMORY_DISK, SEARCH
from tests.store.planted import MISTAKES, Mistake
from tests.store.services import MISSING, REFUSALS, File, Memory, OurJournal, Place, SharedFile

T = TypeVar("T")

APP = "travel"
USERS = ["ada", "bob"]
NAMES = ["s1", "s2"]
KEYS = st.sampled_from(["a", "b", "user:a", "app:a", "temp:a", "é"])
VALUES = st.one_of(
    st.none(),
    st.integers(-9, 9),
    st.text("ab\u2028\U0001f600'\"%", max_size=3),
    st.lists(st.integers(0, 3), max_size=2),
    st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 3), max_size=2),
)
STATES = st.dictionaries(KEYS, VALUES, max_size=3)


@dataclass
class Kept:
    """The model of one session."""

    user: str
    name: str
    initial: dict[str, Any]
    changed: float
    state: dict[str, Any] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def where(self) -> dict[str, str]:
        return {"app_name": APP, "user_id": self.user, "session_id": self.name}


@dataclass
class Copy:
    """A session object that a client has, and its expected content."""

    session: Session
    kept: Kept
    seen: float
    state: dict[str, Any]
    events: list[str]


def lasting(state: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if not key.startswith("temp:")}


class Sessions(RuleBasedStateMachine):
    """Rules for using sessions; `place` is the store."""

    place_class: ClassVar[type[Place]]
    copies = Bundle("copies")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY_DISK)
        self.runner = asyncio.Runner()
        self.now = 1_000_000.0
        self.made = itertools.count(1)
        self.kept: dict[tuple[str, str], Kept] = {}
        self.shared: dict[str, dict[str, Any]] = {name: {} for name in ("app", *USERS)}
        self.place = self.place_class(Path(self.folder.name))
        self.run(self.begin())

    async def begin(self) -> None:
        set_time_provider(lambda: self.now)
        await self.place.open()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        try:
            self.run(self.place.check())
        finally:
            self.run(self.place.close())
            self.runner.close()
            self.folder.cleanup()

    # The model

    def fold(self, model: Kept, delta: dict[str, Any]) -> None:
        for key, value in copy.deepcopy(lasting(delta)).items():
            scope, colon, name = key.partition(":")
            owner = {"app": self.shared["app"], "user": self.shared[model.user]}.get(scope)
            if colon and owner is not None:
                owner[name] = value
            else:
                model.state[key] = value

    def state_of(self, model: Kept) -> dict[str, Any]:
        app, user = self.shared["app"], self.shared[model.user]
        merged = {**model.state, **{f"app:{key}": value for key, value in app.items()}}
        return merged | {f"user:{key}": value for key, value in user.items()}

    def order(self, model: Kept) -> list[str]:
        events = model.events
        if self.place.by_time:
            events = sorted(events, key=lambda event: event.timestamp)
        return [event.id for event in events]

    def held(self, session: Session, model: Kept) -> Copy:
        state, events = copy.deepcopy(session.state), [event.id for event in session.events]
        return Copy(session, model, session.last_update_time, state, events)

    # The rules

    @rule(
        target=copies,
        user=st.sampled_from(USERS),
        name=st.sampled_from(NAMES),
        state=STATES,
        door=st.integers(0, 1),
    )
    def create(self, user: str, name: str, state: dict[str, Any], door: int) -> Any:
        creating = self.door(door).create_session(
            app_name=APP, user_id=user, session_id=name, state=copy.deepcopy(state)
        )
        if (user, name) in self.kept:
            with pytest.raises(REFUSALS):
                self.run(creating)
            return multiple()
        model = self.kept[user, name] = Kept(user, name, lasting(state), self.now)
        self.fold(model, state)
        return self.held(self.run(creating), model)

    def door(self, number: int) -> Any:
        return self.place.doors[number % len(self.place.doors)]

    @rule(target=copies, copied=copies, door=st.integers(0, 1))
    def read(self, copied: Copy, door: int) -> Any:
        model = copied.kept
        session = self.run(self.door(door).get_session(**model.where))
        here = self.kept.get((model.user, model.name))
        if here is None:
            assert session is None
            return multiple()
        return self.held(session, here)

    @rule(
        copied=copies, delta=STATES, step=st.sampled_from([0.0, 1.0, 1.0, -60.0]), door=st.just(0)
    )
    def append(self, copied: Copy, delta: dict[str, Any], step: float, door: int) -> None:
        self.now += step
        event = self.event(f"e{next(self.made)}", delta)
        self.appends(copied, event, copy.deepcopy(delta), door)

    @rule(copied=copies, delta=STATES)
    def append_by_another_program(self, copied: Copy, delta: dict[str, Any]) -> None:
        self.append(copied, delta, 1.0, 1)

    @rule(copied=copies, text=st.sampled_from(["partial", "thought"]))
    def append_a_partial_event(self, copied: Copy, text: str) -> None:
        event = self.event(text, {"a": "never"})
        event.partial = True
        assert self.run(self.place.doors[0].append_event(copied.session, event)) is event

    def event(self, name: str, delta: dict[str, Any]) -> Event:
        content = types.Content(role="model", parts=[types.Part(text=f"text of {name}")])
        actions = EventActions(state_delta=copy.deepcopy(delta))
        return Event(
            id=name,
            invocation_id="i",
            author="agent",
            timestamp=self.now,
            content=content,
            actions=actions,
        )

    def appends(self, copied: Copy, event: Event, delta: dict[str, Any], door: int) -> None:
        model = copied.kept
        appending = self.door(door).append_event(copied.session, event)
        if (here := self.kept.get((model.user, model.name))) is None:
            with pytest.raises(MISSING):
                self.run(appending)
        elif self.place.refuses_stale and here.changed > copied.seen:
            with pytest.raises(StaleSessionError):
                self.run(appending)
        else:
            self.run(appending)
            here.events.append(event.model_copy(deep=True))
            here.changed = copied.seen = event.timestamp
            self.fold(here, delta)
            copied.state |= delta
            copied.events.append(event.id)

    @rule(copied=copies, data=st.data(), changed=st.booleans())
    def append_again(self, copied: Copy, data: st.DataObject, changed: bool) -> None:
        model = self.kept.get((copied.kept.user, copied.kept.name))
        if model is None or not model.events or (changed and not self.place.refuses_other_content):
            return
        event = data.draw(st.sampled_from(model.events)).model_copy(deep=True)
        fresh = self.run(self.place.doors[0].get_session(**model.where))
        if changed:
            event.author = "somebody else"
            with pytest.raises(REFUSALS):
                self.run(self.place.doors[0].append_event(fresh, event))
        else:
            self.run(self.place.doors[0].append_event(fresh, event))
        assert [each.id for each in fresh.events] == self.order(model)

    @rule(copied=copies)
    def write_and_never_commit(self, copied: Copy) -> None:
        """Changes to a copy affect no other copy."""
        for value in copied.session.state.values():
            if isinstance(value, list):
                value.append("uncommitted")
            elif isinstance(value, dict):
                value["uncommitted"] = True
        copied.session.state["user:a"] = copied.session.state["lost"] = "uncommitted"
        copied.state = copy.deepcopy(copied.session.state)

    @rule(copied=copies)
    def delete(self, copied: Copy) -> None:
        model = copied.kept
        self.run(self.place.doors[0].delete_session(**model.where))
        self.kept.pop((model.user, model.name), None)

    @rule(target=copies, copied=copies)
    def export_and_import(self, copied: Copy) -> Any:
        model = self.kept.get((copied.kept.user, copied.kept.name))
        if model is None:
            return multiple()
        source = self.run(self.place.doors[0].get_session(**model.where))
        other = Kept(model.user, f"copy{next(self.made)}", model.initial, self.now)
        session = self.run(self.place.import_copy(source, model.initial, other.name))
        self.kept[other.user, other.name] = other
        self.fold(other, model.initial)
        for event in source.events:
            self.fold(other, event.actions.state_delta)
            other.events.append(event)
            other.changed = event.timestamp
        return self.held(session, other)

    @rule(copied=copies, count=st.integers(0, 4))
    def read_the_newest_events(self, copied: Copy, count: int) -> None:
        model = self.kept.get((copied.kept.user, copied.kept.name))
        if model is not None:
            config = GetSessionConfig(num_recent_events=count)
            session = self.run(self.place.doors[0].get_session(**model.where, config=config))
            assert session is not None
            expected = self.order(model)[-count:] if count else []
            assert [event.id for event in session.events] == expected

    @rule()
    def close_and_open(self) -> None:
        if self.place.outlives:
            self.run(self.place.close())
            self.run(self.place.open())

    # The invariants

    @invariant()
    def every_session_is_what_the_model_says(self) -> None:
        for door in self.place.doors:
            for model in self.kept.values():
                session = self.run(door.get_session(**model.where))
                assert session is not None
                assert session.state == self.state_of(model)
                assert [event.id for event in session.events] == self.order(model)
                events = {event.id: event for event in model.events}
                for event in session.events:
                    assert event.content == events[event.id].content
                    assert event.actions.state_delta == lasting(
                        events[event.id].actions.state_delta
                    )

    @invariant()
    def lists_agree_with_what_is_read_one_by_one(self) -> None:
        door = self.place.doors[-1]
        for user in (None, *USERS):
            sessions = self.run(door.list_sessions(app_name=APP, user_id=user)).sessions
            names = [(session.user_id, session.id) for session in sessions]
            assert sorted(names) == sorted(key for key in self.kept if user in {None, key[0]})
            for session in sessions:
                model = self.kept[session.user_id, session.id]
                assert (session.state, session.events) == (self.state_of(model), [])


def machine(place: type[Place]) -> type[Sessions]:
    return type(f"{place.__name__}Machine", (Sessions,), {"place_class": place})


def play(place: type[Place], examples: int, **more: Any) -> None:
    run_state_machine_as_test(
        machine(place),
        settings=settings(
            max_examples=examples,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            **more,
        ),
    )


@pytest.mark.slow
@pytest.mark.req("R36")
@pytest.mark.req("R37")
@pytest.mark.req("R47")
@pytest.mark.parametrize("place", [Memory, File, SharedFile, OurJournal])
def test_every_session_store_behaves_like_the_model(place: type[Place]) -> None:
    play(place, rounds(12, 30))


@pytest.mark.slow
@pytest.mark.req("R36")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_planted_bug_is_found(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake.plant(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        play(mistake.place, 100, **SEARCH)
