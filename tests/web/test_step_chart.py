"""The chart of a key's writes: steps for numbers, ticks for all values."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.history.blame import ABSENT
from devui.store.rows import Json
from devui.web.panels.state.step_chart import HEIGHT, WIDTH, step_chart, value_at
from devui.web.text.formats import plain

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.just(10**400)
)


def test_each_number_holds_until_the_next_write() -> None:
    chart = step_chart([84.0, 84.0, -756, 0], 2)
    assert chart.line == "M0 4H250V4H500V36H750V7.2H1000"
    assert chart.here == (500.0, 250.0)
    assert chart.label == "4 writes, lowest -756, highest 84"
    assert (chart.low, chart.high) == ("-756", "84")


def test_ordinary_numbers_are_shown_without_exponents() -> None:
    chart = step_chart([0.1 + 0.2, 12_345_678], 1)
    assert chart is not None
    assert (chart.low, chart.high) == ("0.3", "12,345,678")
    assert [plain(each) for each in (1e7, 2.5, 0, 1e-12)] == ["10,000,000", "2.5", "0", "1e-12"]


def test_the_line_is_broken_at_values_that_are_not_numbers() -> None:
    chart = step_chart([1, "gone", 3, True], None)
    assert chart is not None
    assert chart.line.count("M") == 2
    assert chart.ticks.count("M") == 4
    words = step_chart(["a", {"b": 1}], 1)
    assert words is not None
    assert (words.line, words.label) == ("", "2 writes")
    assert step_chart([7], 0) is None


@given(st.lists(VALUES, min_size=2, max_size=30))
def test_every_step_is_within_the_chart(values: list[Json]) -> None:
    chart = step_chart(values, len(values) - 1)
    assert chart is not None
    for command, numbers in re.findall(r"([MVH])([^MVH]+)", chart.line):
        *x, last = [float(number) for number in numbers.split()]
        assert all(0 <= each <= WIDTH for each in x)
        assert 0 <= last <= (WIDTH if command == "H" else HEIGHT)


@given(st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_a_path_finds_its_value_or_absent(value: Json) -> None:
    nested: Json = {"a": [value]}
    assert value_at(nested, ("a", 0)) == value
    assert value_at(nested, ("a", 1)) is ABSENT
    assert value_at(nested, ("b", 0)) is ABSENT
    assert value_at(json.loads(json.dumps(value)), ()) == value
