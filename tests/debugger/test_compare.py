"""Comparing two runs: the alignment, what counts as a difference, and where it begins."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.compare import alignment
from devui.debugger.compare.alignment import aligned
from devui.debugger.compare.comparison import Comparison, Row, compare
from devui.debugger.compare.steps import Step, comparable, likeness, step_of
from devui.debugger.events.summary import summarize
from devui.store.rows import EventRow
from devui.wire.events import Event


def read_step(number: int, event: dict[str, Any]) -> Step:
    """Return the step of an event in ADK's wire form."""
    event = {"id": f"e{number}", "invocationId": "i", "timestamp": 1.0 * number, **event}
    summary = summarize(Event.of(event), final=False)
    row = EventRow(
        seq=number,
        number=number,
        session=1,
        run=None,
        id=event["id"],
        invocation_id="i",
        author=event["author"],
        branch=event.get("branch"),
        timestamp=1.0 * number,
        kind=summary.kind,
        final=False,
        summary_json=summary.to_json(),
        chunks=0,
        size=0,
    )
    return step_of(row, Event.of(event))


def steps(*events: dict[str, Any]) -> list[Step]:
    return [read_step(number, event) for number, event in enumerate(events, 1)]


def say(author: str, text: str, **more: Any) -> dict[str, Any]:
    return {"author": author, "content": {"parts": [{"text": text}]}, **more}


def call(name: str, *, author: str = "agent", call_id: str = "c", **args: Any) -> dict[str, Any]:
    part = {"functionCall": {"id": call_id, "name": name, "args": args}}
    return {"author": author, "content": {"parts": [part]}}


def result(name: str, value: Any, *, author: str = "agent", call_id: str = "c") -> dict[str, Any]:
    part = {"functionResponse": {"id": call_id, "name": name, "response": {"result": value}}}
    return {"author": author, "content": {"parts": [part]}}


ASK, DONE = say("user", "go"), say("agent", "done")


def pairs_of(comparison: Comparison) -> list[tuple[Any, ...]]:
    return [(row.kind, row.left, row.right) for row in comparison.rows]


# --- examples ----------------------------------------------------------------------------------


def test_an_added_step_does_not_move_the_others() -> None:
    short = steps(ASK, call("look", city="Oslo"), result("look", 1), DONE)
    long = steps(
        ASK,
        call("ask", city="Rome"),
        result("ask", 2),
        call("look", city="Oslo"),
        result("look", 1),
        DONE,
    )
    comparison = compare(short, long)
    assert pairs_of(comparison) == [
        ("same", 1, 1),
        ("right", None, 2),
        ("right", None, 3),
        ("same", 2, 4),
        ("same", 3, 5),
        ("same", 4, 6),
    ]
    assert (comparison.equal, comparison.differences, comparison.first) == (
        False,
        2,
        comparison.rows[1],
    )


def test_ids_times_and_tokens_do_not_count_as_differences() -> None:
    first = call("look", call_id="adk-1", city="Oslo")
    second = call("look", call_id="adk-2", city="Oslo")
    second |= {"usageMetadata": {"totalTokenCount": 3}, "customMetadata": {"devui_edited": []}}
    second["content"]["parts"][0]["thoughtSignature"] = "AAAA"
    assert compare(steps(ASK, first), steps(ASK, second)).equal
    confirmation = {"actions": {"requestedToolConfirmations": {"adk-1": {"hint": "sure?"}}}}
    again = {"actions": {"requestedToolConfirmations": {"adk-2": {"hint": "sure?"}}}}
    assert comparable(Event.of({**first, **confirmation})) == comparable(
        Event.of({**second, **again})
    )


def test_a_normal_finish_reason_is_not_an_error() -> None:
    answer = say("agent", "yes")
    assert comparable(Event.of({**answer, "finishReason": "STOP"})) == comparable(Event.of(answer))
    assert "error" in comparable(Event.of({**answer, "finishReason": "MAX_TOKENS"}))


def test_the_same_call_with_other_arguments_is_a_changed_step() -> None:
    old = steps(ASK, call("look", city="Oslo"), result("look", 1), DONE)
    new = steps(ASK, call("look", city="Rome"), result("look", {"n": 1}), DONE)
    comparison = compare(old, new)
    assert [(row.kind, row.aspects) for row in comparison.rows] == [
        ("same", ()),
        ("changed", ("calls",)),
        ("changed", ("results",)),
        ("same", ()),
    ]
    assert not comparison.rows[1].other_step


def test_a_different_step_at_the_same_place_is_shown_beside_the_original() -> None:
    comparison = compare(steps(ASK, call("look")), steps(ASK, say("agent", "I do not know")))
    assert pairs_of(comparison) == [("same", 1, 1), ("changed", 2, 2)]
    assert comparison.rows[1].other_step


def test_another_agents_step_stands_alone() -> None:
    comparison = compare(steps(ASK, say("planner", "yes")), steps(ASK, say("writer", "yes")))
    assert pairs_of(comparison) == [("same", 1, 1), ("left", 2, None), ("right", None, 2)]


def test_a_step_is_paired_with_the_most_similar_one() -> None:
    old = steps(ASK, call("look", city="Oslo", day="Monday"), DONE)
    new = steps(ASK, call("look", city="Rome"), call("look", city="Oslo", day="Friday"), DONE)
    assert pairs_of(compare(old, new))[1:3] == [("right", None, 2), ("changed", 2, 3)]


def branches(*order: str, **more: str) -> list[Step]:
    """Return steps of two branches; a step's name is its branch and its place in it."""
    return steps(
        ASK,
        *(say(name[0], more.get(name, name), branch=f"both.{name[0]}") for name in order),
        DONE,
    )


def test_parallel_branches_in_another_order_are_equal() -> None:
    comparison = compare(branches("a1", "b1", "a2", "b2"), branches("a1", "a2", "b1", "b2"))
    assert comparison.equal
    moves = [row for row in comparison.rows if row.kind == "moved"]
    assert len(moves) == 2
    assert (moves[0].left or moves[0].right, moves[0].moved_to) in {(3, 4), (4, 3)}


def test_a_difference_within_a_moved_branch_is_found() -> None:
    comparison = compare(
        branches("a1", "b1", "a2", "b2"), branches("b1", "b2", "a1", "a2", a1="what?")
    )
    assert comparison.differences == 1
    assert comparison.first is not None
    assert comparison.first.aspects == ("text",)


def test_steps_of_one_agent_in_another_order_differ() -> None:
    comparison = compare(
        steps(ASK, call("look"), call("book")), steps(ASK, call("book"), call("look"))
    )
    assert [row.kind for row in comparison.rows].count("moved") == 2
    assert (comparison.equal, comparison.differences) == (False, 1)


def test_an_empty_run_equals_only_another_empty_run() -> None:
    assert compare([], []).equal
    assert pairs_of(compare([], steps(ASK))) == [("right", None, 1)]


# --- properties of any two runs ------------------------------------------------------------------

EVENTS = st.builds(
    lambda make, branch: {**make, **({"branch": branch} if branch else {})},
    st.one_of(
        st.builds(say, st.sampled_from(["user", "a", "b"]), st.sampled_from(["x y", "x z", "w"])),
        st.builds(call, st.sampled_from(["look", "book"]), city=st.sampled_from("xyz")),
        st.builds(result, st.just("look"), st.sampled_from([1, 2])),
    ),
    st.sampled_from([None, None, "p.one", "p.two"]),
)
RUNS = st.lists(EVENTS, max_size=14).map(lambda events: steps(*events))


CELLS = st.sampled_from([alignment.CELLS, 12])
"""Limits for the size of a stretch; the small one makes short sequences count as long."""


def compared_by(left: list[Step], right: list[Step], cells: int) -> Comparison:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "CELLS", cells)
        return compare(left, right)


@given(left=RUNS, right=RUNS, cells=CELLS)
def test_an_alignment_has_every_step_once_in_order_and_is_symmetric(
    left: list[Step], right: list[Step], cells: int
) -> None:
    comparison = compared_by(left, right, cells)
    assert [row.left for row in comparison.rows if row.left] == [each.number for each in left]
    assert [row.right for row in comparison.rows if row.right] == [each.number for each in right]
    back = compared_by(right, left, cells)
    assert sorted(map(repr, back.rows)) == sorted(repr(mirrored(row)) for row in comparison.rows)
    assert back.differences == comparison.differences
    consistent(comparison, left, right)


def mirrored(row: Row) -> Row:
    kind = {"left": "right", "right": "left"}.get(row.kind, row.kind)
    return replace(row, kind=kind, left=row.right, right=row.left)


def consistent(comparison: Comparison, left: Sequence[Step], right: Sequence[Step]) -> None:
    """Assert that each row's kind agrees with its steps."""
    for row in comparison.rows:
        first = left[row.left - 1] if row.left else None
        second = right[row.right - 1] if row.right else None
        if row.kind == "moved":
            other = comparison.rows[
                [(r.left, r.right) for r in comparison.rows].index(partner(row))
            ]
            assert (other.kind, other.moved_to) == ("moved", row.left or row.right)
        elif first and second:
            assert (row.kind == "same") == (first.sign == second.sign)
            assert first.sign == second.sign or likeness(first, second) > 0


def partner(row: Row) -> tuple[int | None, int | None]:
    return (None, row.moved_to) if row.left else (row.moved_to, None)


@given(run=RUNS, cells=CELLS)
def test_a_run_equals_itself(run: list[Step], cells: int) -> None:
    comparison = compared_by(run, run, cells)
    assert pairs_of(comparison) == [("same", each.number, each.number) for each in run]
    assert comparison.equal


def weight(pairs: Any, left: Sequence[Step], right: Sequence[Step]) -> int:
    weights = (
        alignment.SAME if left[i].sign == right[j].sign else likeness(left[i], right[j])
        for i, j in pairs
        if i is not None and j is not None
    )
    return sum(weights)


def heaviest(left: Sequence[Step], right: Sequence[Step]) -> int:
    """Return the greatest weight, by the textbook algorithm without optimizations."""
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, first in enumerate(left):
        for j, second in enumerate(right):
            pair = weight([(0, 0)], [first], [second])
            table[i + 1][j + 1] = max(table[i][j] + pair, table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@given(left=RUNS, right=RUNS)
def test_the_alignment_has_the_greatest_weight(left: list[Step], right: list[Step]) -> None:
    assert weight(aligned(left, right, likeness), left, right) == heaviest(left, right)


def test_long_runs_that_differ_in_a_few_places_are_aligned_exactly() -> None:
    long = [say("agent", f"line {number}") for number in range(3000)]
    other = [*long[:700], say("agent", "put in"), *long[700:1500], *long[1510:]]
    other[2000] = say("agent", "another line")
    comparison = compare(steps(*long), steps(*other))
    kinds = [row.kind for row in comparison.rows if row.kind != "same"]
    assert sorted(kinds) == ["changed", *["left"] * 10, "right"]


def test_long_runs_without_common_steps_are_aligned_in_a_band() -> None:
    left = steps(*(call("look", city=f"x{number}") for number in range(1000)))
    right = steps(*(call("look", city=f"y{number}") for number in range(1300)))
    comparison = compare(left, right)
    assert [row.left for row in comparison.rows if row.left] == [*range(1, 1001)]
    assert comparison.count("changed") == 1000
    assert json.dumps(pairs_of(comparison))
