"""Conditions of breakpoints: their values, what is refused, and that they always terminate."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devui.debugger.breakpoints.kinds import KINDS
from devui.debugger.predicates.expressions import (
    MAX_LENGTH,
    NAMES,
    Condition,
    ConditionError,
    compiled,
    like,
)
from devui.debugger.predicates.facts import RUN, Facts
from tests.kit.rounds import rounds
from tests.source import ROOT

FACTS: dict[str, Any] = {
    "kind": "call",
    "agent": "planner",
    "text": 'says "hi"',
    "final": False,
    "tool": "book_flight",
    "tools": ["book_flight", "pay"],
    "args": {"to": ["Oslo", "Rome"], "price": 120.5, "in": 1},
    "old": 3,
    "new": None,
    "state": {"user:name": "Ada", "plan": {"steps": [{"done": True}]}},
    "tokens": 7,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('kind == "call"', True),
        ("kind == 'call' and agent != \"planner\"", False),
        ("tool like 'book_*' and not final", True),
        ("tool not like '*hotel*'", True),
        ("args.price >= 120.5 and args.price < 121", True),
        ("args.to[1]", "Rome"),
        ("args.to[-1] in ['Rome', 'Bern']", True),
        ("'Bern' not in args.to", True),
        ("args['to'][0] == 'Oslo'", True),
        ("args.in == 1", True),
        ("state['user:name']", "Ada"),
        ("state.plan.steps[0].done", True),
        ("state.plan.steps[9].done", None),
        ("'plan' in state and len(state.plan.steps) == 1", True),
        ("exists(new) or exists(old)", True),
        ("new == null", True),
        ("old > new", False),
        ("old < 'text'", False),
        ("old == true", False),
        ("final == false", True),
        ("lower(text) like 'says \\\"hi\\\"'", True),
        ("'hi' in text", True),
        ("not (old == 3 or tokens == 8)", False),
        ("not not tokens", True),
        ("-3 < -2", True),
        ("len(3)", None),
        ("len(args.to) == 2", True),
        ("branch == null", True),
        ("[1, [2]] == [1, [2]]", True),
    ],
)
def test_a_condition_evaluates_to_its_value(text: str, value: object) -> None:
    assert compiled(text).value(Facts(values=FACTS)) == value


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "expected a value"),
        ("   ", 4, "found the end"),
        ("kind = 'call'", 6, "compare with =="),
        ("new => 1000", 5, "compare with >="),
        ("new =< 1000", 5, "compare with <="),
        ("kind == 'call", 9, "unterminated string"),
        ("kin == 'call'", 1, "unknown name 'kin'"),
        ("kind == ", 9, "expected a value"),
        ("(kind", 6, "expected ')'"),
        ("kind kind", 6, "expected an operator"),
        ("open('x')", 1, "unknown function 'open'"),
        ("len()", 1, "takes one value"),
        ("len(kind, tool)", 1, "takes one value"),
        ("state.", 7, "expected a name"),
        ("run.call > 3", 5, "unknown run.call; use one of events"),
        ("state.1", 7, "expected a name"),
        ("kind not 'call'", 10, "expected 'in' or 'like'"),
        ("__import__('os')", 1, "unknown function '__import__'"),
        ("kind.__class__()", 15, "expected an operator"),
        ("kind; tool", 5, "unexpected ';'"),
        ("-'a'", 2, "expected a value"),
        ("(" * 60 + "1" + ")" * 60, 41, "nested deeper"),
        ("1" * 30, 19, "expected an operator"),
        ("tool == 1 == 2", 11, "expected an operator"),
        ("a" * (MAX_LENGTH + 1), MAX_LENGTH + 1, "longer than"),
    ],
)
def test_an_invalid_condition_is_refused_with_its_column(
    text: str, column: int, words: str
) -> None:
    with pytest.raises(ConditionError, match=f"^column {column}: ") as caught:
        compiled(text)
    assert words in str(caught.value)
    assert caught.value.at == column - 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)
facts = st.dictionaries(st.sampled_from(sorted(NAMES)), json_values)
MARKS = "and or not in like == != < >= ( ) [ ] . , len( exists( lower( [0] 1 -2.5 'a*' true null"
words = st.sampled_from([*NAMES, *MARKS.split()])


@given(st.lists(words, max_size=20).map(" ".join) | st.text(max_size=40), facts)
@settings(max_examples=rounds(150, 500))
def test_any_text_is_refused_with_its_place_or_evaluates_without_raising(
    text: str, known: dict[str, Any]
) -> None:
    at = 0
    try:
        condition = compiled(text)
    except ConditionError as error:
        at = error.at
    else:
        json.dumps(condition.value(Facts(values=known)))
    assert 0 <= at <= len(text)


paths = st.sampled_from(["state", "args", "old", "new", "tool", "tokens"])
literals = st.integers(-99, 99).map(str) | st.sampled_from(["'a'", "true", "null", "[1, 2]"])
atoms = paths | literals | paths.map(lambda name: f"{name}.a[0]")
comparisons = st.tuples(atoms, st.sampled_from(["==", "!=", "<", "in", "like"]), atoms).map(
    " ".join
)
conditions = st.recursive(
    comparisons,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} ({parts[2]})"
        )
        | inner.map(lambda text: f"not ({text})")
    ),
    max_leaves=6,
)


@given(conditions, conditions, facts)
def test_and_or_and_not_follow_boolean_logic(a: str, b: str, known: dict[str, Any]) -> None:
    def holds(text: str) -> bool:
        return compiled(text).holds(Facts(values=known))

    assert holds(f"({a}) and ({b})") == (holds(a) and holds(b))
    assert holds(f"({a}) or ({b})") == (holds(a) or holds(b))
    assert holds(f"not ({a})") != holds(a)
    assert holds(f"({a}) and ({b}) or ({b})") == holds(b)


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=8))
def test_like_agrees_with_its_definition(pattern: str, text: str) -> None:
    def defined(p: str, t: str) -> bool:
        if not p:
            return not t
        if p[0] == "*":
            return defined(p[1:], t) or (bool(t) and defined(p, t[1:]))
        return bool(t) and p[0] == t[0] and defined(p[1:], t[1:])

    assert like(text, pattern) == defined(pattern, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("text like '" + "*a" * 450 + "*b'", "a" * 1_000_000),
        ("text like '" + "a*" * 450 + "'", "a" * 400 + "b" * 1_000_000),
        ("not " * 240 + "true", ""),
        ("state" + ".a" * 490, ""),
        (" and ".join(["text in text"] * 55), "a" * 1_000_000),
        ("[" * 30 + "1" + "]" * 30 + " == text", ""),
    ],
)
def test_expensive_conditions_terminate(text: str, value: str) -> None:
    assert compiled(text).holds(Facts(values={"text": value, "state": {}})) in {True, False}


def test_values_nested_too_deeply_to_compare_are_not_equal() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    other: list[Any] = []
    for _ in range(100_000):
        other = [other]
    assert compiled("old == new").value(Facts(values={"old": deep, "new": other})) is False


def test_the_guide_explains_every_kind_and_every_fact() -> None:
    guide = (ROOT / "docs" / "guide" / "debugging.md").read_text(encoding="utf-8")
    section = guide.split("\n## Breakpoints\n")[1].split("\n## ")[0]
    kinds, facts = section.split("\n#### Names\n")
    for table, names in ((kinds, KINDS), (facts, NAMES), (facts, [f"run.{name}" for name in RUN])):
        cells = " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("|"))
        assert {*names} <= {*re.findall(r"`([\w.]+)`", cells)}


def test_a_condition_lists_the_names_it_uses() -> None:
    condition: Condition = compiled("state.a > 1 and len(args.b) == tokens")
    assert condition.names == {"state", "args", "tokens"}
