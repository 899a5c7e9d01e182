"""State: dirty reads, deltas, changes in place, schema (adk-runtime 2.2)."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from devui.runtime.sessions import State, StateSchemaError
from devui.runtime.sessions.state import ScopedState


def new_state(**value) -> tuple[State, dict, dict]:
    delta: dict = {}
    return State(value, delta), value, delta


def test_a_write_is_visible_at_once_and_recorded():
    state, value, delta = new_state(a=1)
    state["b"] = 2
    assert (state["b"], value, delta) == (2, {"a": 1, "b": 2}, {"b": 2})
    assert state.has_delta()


def test_reads_prefer_the_delta():
    assert State({"a": 1}, {"a": 2})["a"] == 2
    assert State({"a": 1}, {"a": 2}).to_dict() == {"a": 2}


def test_reading_changes_nothing():
    state, _, delta = new_state(a=1, items=[1])
    assert (state["a"], state.get("x"), state.get("x", 3), "a" in state) == (1, None, 3, True)
    assert list(state) == ["a", "items"]
    assert state["items"] == [1]
    assert not state.has_delta()
    assert delta == {}


def test_an_unknown_key_is_a_key_error():
    with pytest.raises(KeyError):
        new_state()[0]["nope"]


def test_setdefault_and_update_record_what_they_write():
    state, _, delta = new_state(a=1)
    assert state.setdefault("a", 9) == 1
    assert state.setdefault("b", 2) == 2
    state.update({"c": 3})
    assert delta == {"b": 2, "c": 3}


def test_a_change_in_place_is_recorded():
    state, value, delta = new_state(cart={"items": []})
    state["cart"]["items"].append("apple")
    assert state.has_delta()
    assert delta == {"cart": {"items": ["apple"]}}
    assert delta["cart"] is value["cart"]
    state["cart"]["items"].append("pear")
    assert state.has_delta()
    assert delta == {"cart": {"items": ["apple", "pear"]}}


def test_a_change_in_place_that_is_not_json_is_not_recorded():
    state, _, delta = new_state(log=[])
    state["log"].append(dt.datetime(2026, 1, 1))
    assert not state.has_delta()
    assert delta == {}


def test_a_recorded_container_leaves_the_delta_when_it_is_no_longer_json():
    state, _, delta = new_state(log=[])
    log = state["log"]
    log.append(1)
    assert state.has_delta()
    log.append(object())
    assert not state.has_delta()
    assert delta == {}


def test_an_assignment_overrides_a_change_in_place():
    state, _, delta = new_state(log=[])
    log = state["log"]
    log.append(1)
    state["log"] = ["new"]
    assert state.has_delta()
    assert delta == {"log": ["new"]}


def test_a_container_replaced_by_another_context_is_not_tracked():
    value = {"log": []}
    state = State(value, {})
    state["log"].append(1)
    value["log"] = ["other"]
    assert not state.has_delta()


class Uncopyable(list):
    def __deepcopy__(self, memo: dict) -> "Uncopyable":
        raise RuntimeError("never")


def test_a_value_that_cannot_be_copied_can_be_read():
    state, _, _ = new_state(odd=Uncopyable([1]))
    assert state["odd"] == [1]
    assert not state.has_delta()


class Schema(BaseModel):
    count: int = Field(default=0, ge=0)
    tags: list[str] = []


def test_deleting_a_key_raises_with_advice():
    with pytest.raises(AttributeError, match="write None to 'a' to remove it"):
        del State({"a": 1}, {})["a"]


def test_a_schema_checks_keys_and_values_before_anything_is_written():
    value: dict = {}
    state = State(value, {}, Schema)
    state["count"] = 3
    state["app:anything"] = object
    with pytest.raises(StateSchemaError, match="not declared"):
        state["other"] = 1
    with pytest.raises(StateSchemaError, match="count"):
        state.update({"tags": ["a"], "count": -1})
    assert value == {"count": 3, "app:anything": object}


keys = st.sampled_from(["a", "b", "user:c", "app:d", "temp:e"])
writes = st.lists(st.dictionaries(keys, st.integers() | st.none(), max_size=3), max_size=8)


@given(start=st.dictionaries(keys, st.integers()), writes=writes)
def test_the_state_is_the_fold_of_its_deltas(start, writes):
    value, fold = dict(start), dict(start)
    for delta_written in writes:
        delta: dict = {}
        State(value, delta).update(delta_written)
        assert delta == delta_written
        fold.update(delta)
    assert value == fold


@given(state=st.dictionaries(keys, st.integers()))
def test_scopes_are_split_and_joined_without_temp(state):
    scoped = ScopedState.of(state)
    assert scoped.as_dict() == {k: v for k, v in state.items() if not k.startswith("temp:")}
    assert set(scoped.user) <= {"c"}
    assert set(scoped.app) <= {"d"}
