"""What a write changed inside a value, and which write each piece of it comes from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.history.blame import ABSENT, blamed, blamed_at, differences, lines
from devui.debugger.history.paths import path_of, path_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0]) | st.text("ab"),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text("ab.", max_size=2), inside)
    ),
    max_leaves=12,
)
STEPS = [{"do": "look"}, {"do": "book"}, {"do": "pay"}]


def changes_of(old: Any, new: Any) -> list[tuple[str, Any, Any]]:
    return [(path_text(each.path), each.old, each.new) for each in differences(old, new)]


def pieces(*values: Any) -> dict[str, int]:
    return {path_text(path): by for path, by in lines(blamed(values))}


def test_a_deeply_nested_change_is_reported_as_its_path_only():
    old = {"title": "trip", "steps": [*STEPS[:2], {"do": "pay", "done": False}]}
    new = {"title": "trip", "steps": [*STEPS[:2], {"do": "pay", "done": True}]}
    assert changes_of(old, new) == [("steps[2].done", False, True)]


def test_an_item_added_or_removed_at_the_front_is_one_change():
    assert changes_of(STEPS, [{"do": "ask"}, *STEPS]) == [("[0]", ABSENT, {"do": "ask"})]
    assert changes_of(STEPS, STEPS[1:]) == [("[0]", STEPS[0], ABSENT)]


def test_values_that_json_distinguishes_differ():
    assert changes_of({"a": 1}, {"a": True}) == [("a", 1, True)]
    assert changes_of([1], [1.0]) == [("[0]", 1, 1.0)]
    assert changes_of(None, None) == []
    assert changes_of(ABSENT, None) == [("", ABSENT, None)]


def test_a_piece_is_blamed_on_the_last_write_that_changed_it_even_if_it_moved():
    first = {"steps": STEPS, "title": "trip"}
    second = {"steps": [*STEPS[:2], {"do": "pay", "done": True}], "title": "trip"}
    third = {"steps": [{"do": "ask"}, *second["steps"]], "title": "trip"}
    assert pieces(first, second, third) == {
        "steps[0]": 2,
        "steps[1]": 0,
        "steps[2]": 0,
        "steps[3].do": 0,
        "steps[3].done": 1,
        "title": 0,
    }
    piece = blamed([first, second, third])
    assert blamed_at(piece, path_of("steps[3].done")) == 1
    assert blamed_at(piece, path_of("steps")) == 2
    assert blamed_at(piece, path_of("steps[9]")) is None


def test_rewriting_the_same_value_takes_no_blame():
    assert pieces({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) == {"": 0}


@pytest.mark.parametrize("text", ["plan.steps[2].done", '["a b"].c', "[0][1]", '["x\\"]"]', ""])
def test_a_path_round_trips_through_its_text(text):
    assert path_text(path_of(text)) == text


@pytest.mark.parametrize("text", ["a..b", "a[", "[x]", "a b", ".", "a."])
def test_an_invalid_path_is_refused(text):
    with pytest.raises(ValueError, match="isn't a valid path"):
        path_of(text)


def leaf(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@given(JSON, JSON)
def test_each_difference_has_the_new_value_at_its_path(old, new):
    changes = differences(old, new)
    assert bool(changes) == (repr(old) != repr(new) and changes_of(old, new) != [])
    for each in changes:
        assert each.new is ABSENT or leaf(new, each.path) == each.new
        assert each.old is not ABSENT or each.new is not ABSENT
        assert path_of(path_text(each.path)) == each.path


@given(st.lists(JSON, min_size=1, max_size=5))
def test_every_piece_of_a_value_is_blamed_on_a_write_that_has_it(values):
    for path, by in lines(blamed(values)):
        assert 0 <= by < len(values)
        leaf(values[-1], path)
    assert blamed([*values, values[-1]]) == blamed(values)
