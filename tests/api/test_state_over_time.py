"""The state as of each event is the fold of the deltas up to it, in any history."""

import copy
import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.kit.debugged_run import GOING, DebuggedRun
from tests.kit.rounds import rounds
from tests.kit.server import get_session, running, write_app

QUIET = """
from devui.runtime.agents import Agent
from devui.runtime.models import Say, Rule, ScriptedLlm

root_agent = Agent(name="quiet", model=ScriptedLlm(rules=[Rule(then=Say("yes"))]))
"""
KEYS = st.sampled_from(["a", "b", "user:a", "user:c", "app:a"])
VALUES = st.sampled_from([None, 0, "x", [1], {"k": [1, 2]}, {"k": [2]}])
DELTAS = st.dictionaries(KEYS, VALUES, max_size=3)
WHICH = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("create"), WHICH, DELTAS),
    st.tuples(st.just("patch"), WHICH, DELTAS),
    st.tuples(st.just("patch"), WHICH, DELTAS),
    st.tuples(st.just("fork"), WHICH, st.integers(0, 9)),
    st.tuples(st.just("rewind"), WHICH, st.integers(1, 9)),
)
USERS = (f"user-{number}" for number in itertools.count())
Scopes = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("over-time")
    write_app(folder / "agents", "quiet", QUIET)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def app_state():
    """The state that the sessions of all users share."""
    return {}


class ModelSession:
    """A session, and the expected state after each of its events."""

    def __init__(self, key: int, name: str, scopes: Scopes, past: list[dict[str, Any]]) -> None:
        self.key, self.name, self.scopes, self.past = key, name, scopes, past

    def put(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            prefix, _, bare = key.rpartition(":")
            self.scopes[prefix][bare] = value

    def remember(self) -> None:
        """Record the current state as the expected one at this event."""
        self.past.append(copy.deepcopy(self.merged()))

    def merged(self) -> dict[str, Any]:
        scopes = ((f"{scope}:" if scope else "", values) for scope, values in self.scopes.items())
        return {prefix + key: value for prefix, values in scopes for key, value in values.items()}


class History:
    """What one example does to the sessions of one user."""

    def __init__(self, client: Any, app_state: dict[str, Any]) -> None:
        self.client, self.user = client, next(USERS)
        self.user_state: dict[str, Any] = {}
        self.app_state = app_state
        self.sessions: list[ModelSession] = []

    def create(self, state: dict[str, Any]) -> None:
        debugged = DebuggedRun(self.client, "quiet", user=self.user, state=state)
        scopes = {"": {}, "user": self.user_state, "app": self.app_state}
        session = ModelSession(debugged.key, debugged.session, scopes, [])
        session.put(state)
        session.remember()
        self.sessions.append(session)

    def patch(self, session: ModelSession, delta: dict[str, Any]) -> None:
        address = f"/apps/quiet/users/{self.user}/sessions/{session.name}"
        answer = self.client.patch(address, json={"stateDelta": delta})
        assert answer.status_code == 200, answer.text
        session.put(delta)
        session.remember()

    def fork(self, session: ModelSession, number: int) -> None:
        number = min(number, len(session.past) - 1)
        answer = self.client.post(f"/api/sessions/{session.key}/forks", json={"number": number})
        assert answer.status_code == 201, answer.text
        row, past = answer.json(), copy.deepcopy(session.past[: number + 1])
        scopes: Scopes = {"": {}, "user": {}, "app": {}}
        fork = ModelSession(row["key"], row["id"], scopes, past)
        fork.put(past[-1])
        self.sessions.append(fork)

    def rewind(self, session: ModelSession, number: int) -> None:
        """The runtime computes the delta; the past says which state must result."""
        if number >= len(session.past):
            return
        address = f"/api/sessions/{session.key}/rewind"
        answer = self.client.post(address, json={"number": number})
        assert answer.status_code == 201, answer.text
        self.finish(answer.json())
        event = self.events(session)[-1]
        session.put(event["actions"]["stateDelta"])
        session.remember()
        target = own(session.past[number - 1])
        assert {
            k: v for k, v in own(session.past[-1]).items() if v is not None or k in target
        } == target

    def finish(self, position: dict[str, Any]) -> None:
        address = f"/api/runs/{position['run']}"
        while position["status"] in GOING:
            query = {"after": position["position"]}
            position = self.client.get(address, params=query).json()
        assert position["status"] == "done", position

    def events(self, session: ModelSession) -> list[dict[str, Any]]:
        return get_session(self.client, "quiet", session.name, self.user)["events"]

    def check(self) -> None:
        for session in self.sessions:
            assert len(self.events(session)) == len(session.past) - 1
            for number, expected in enumerate(session.past):
                state = self.state(session, at=number)
                assert {each["key"]: each["value"] for each in state["values"]} == expected
            for since, until in itertools.combinations(range(len(session.past)), 2):
                state = self.state(session, **{"from": since, "at": until})
                before, after = session.past[since], session.past[until]
                assert {each["key"] for each in state["changes"]} == {
                    key
                    for key in before.keys() | after.keys()
                    if (key in before, before.get(key)) != (key in after, after.get(key))
                }

    def state(self, session: ModelSession, **query: int) -> dict[str, Any]:
        answer = self.client.get(f"/api/sessions/{session.key}/state", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def own(state: dict[str, Any]) -> dict[str, Any]:
    """The session's own keys; a rewind does not restore shared ones."""
    return {key: value for key, value in state.items() if ":" not in key}


@settings(max_examples=rounds(10, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(start=DELTAS, steps=st.lists(STEPS, max_size=9))
@example(start={"a": 0}, steps=[("patch", 0, {"a": None}), ("rewind", 0, 1)])
@example(start={"a": 0}, steps=[("patch", 0, {"a": "x"}), ("fork", 0, 1), ("rewind", 1, 1)])
@example(start={}, steps=[("create", 0, {"user:a": 0}), ("patch", 0, {}), ("fork", 0, 1)])
def test_the_state_as_of_n_is_the_fold_of_the_first_n_deltas(client, app_state, start, steps):
    history = History(client, app_state)
    history.create(start)
    for does, which, what in steps:
        if does == "create":
            history.create(what)
        else:
            getattr(history, does)(history.sessions[which % len(history.sessions)], what)
    history.check()
