"""Values from agents are written into test files unchanged, as literals and never as code."""

import ast

from hypothesis import example, given
from hypothesis import strategies as st

from devui.debugger.saved_tests.literals import WIDTH, literal

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner)
)


@example({"0" * 89: ""}, 0)
@given(VALUES, st.integers(0, 90))
def test_a_literal_is_printable_and_evaluates_to_its_value(value, used) -> None:
    text = literal(value, indent=4, used=used)
    assert ast.literal_eval(text) == value
    assert text.replace("\n", "").isprintable()


def test_long_values_are_split_into_lines_that_fit() -> None:
    value = {"plan": ["go to the harbour " * 20, {"steps": [{"at": "a" * 40}] * 4}], "nothing": ()}
    text = literal(value, indent=4, used=30)
    assert ast.literal_eval(text) == value
    assert max(map(len, text.splitlines())) <= WIDTH + 4
    assert literal("one\n\ntwo " * 20, indent=4, used=30).splitlines()[1] == '        "one\\n"'
