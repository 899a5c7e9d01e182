"""Pickles are walked and never loaded; what is too large in them is refused."""

import pickle

import pytest

from devui.debugger.adk_imports.pickled import UnsupportedPickle, read


def nothing_left_out(place, what):
    raise AssertionError(f"{place}: {what}")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_as_they_are(protocol):
    value = {"a": [1, 2.5, None, True, "ä" * 300], "b": {"c": -(2**70)}, "d": ("x", "y")}
    assert read(pickle.dumps(value, protocol), nothing_left_out) == {**value, "d": ["x", "y"]}


def test_a_large_text_that_is_referenced_many_times_is_refused():
    text = "x" * 1_000_000
    with pytest.raises(UnsupportedPickle, match="texts have more than"):
        read(pickle.dumps([text] * 100), nothing_left_out)
