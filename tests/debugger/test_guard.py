"""The guard's rulings: which calls run, which need a decision, which get a recorded answer."""

import pytest

from devui.debugger.guard.effects import UNKNOWN, ToolEffect, from_code
from devui.debugger.guard.guard import Guard, Policy
from devui.debugger.guard.recorded_calls import RecordedCall

EFFECTS = {
    "pay": ToolEffect("effects", "code"),
    "look": ToolEffect("read_only", "code"),
    "store": ToolEffect("idempotent", "person", "ada"),
    "guess": from_code("hint"),
}


def call(tool: str, **args: int) -> RecordedCall:
    return RecordedCall(tool, args, {"result": f"{tool} {args}"}, 1, 5)


@pytest.mark.parametrize("policy", ["ask", "recorded", "run"])
@pytest.mark.parametrize("tool", ["pay", "look", "store", "guess", "nobody_knows", "never_ran"])
def test_only_an_unsafe_tool_that_has_run_is_in_question(policy: Policy, tool: str) -> None:
    ran = [call(each, n=1) for each in (*EFFECTS, "nobody_knows")]
    ruling = Guard(policy, EFFECTS, ran).rule(tool, {"n": 1})
    safe = tool in {"look", "store", "never_ran"} or policy == "run"
    assert ruling.do == ("run" if safe else "answer" if policy == "recorded" else "ask")
    assert (ruling.offer is not None) is not safe
    assert ruling.effect == EFFECTS.get(tool, UNKNOWN)


def test_each_record_is_used_once_and_exact_matches_come_first() -> None:
    guard = Guard("recorded", EFFECTS, [call("pay", n=1), call("pay", n=2), call("pay", n=2)])
    rulings = [guard.rule("pay", {"n": n}) for n in (2, 2, 2, 2)]
    assert [ruling.do for ruling in rulings] == ["answer", "answer", "ask", "ask"]
    assert [ruling.same_args for ruling in rulings] == [True, True, False, False]
    assert [ruling.offer.args["n"] if ruling.offer else None for ruling in rulings] == [
        2,
        2,
        1,
        None,
    ]


@pytest.mark.parametrize(
    "error",
    [
        "pay() was not called: it needs m. Call it again with all mandatory arguments.",
        "pay() was not called, since its arguments do not fit:\n- n: no number",
        "Invoking `pay()` failed as the following mandatory input parameters are not present:\nm",
        "This tool call is rejected.",
    ],
)
def test_a_call_that_never_started_is_not_in_question(error: str) -> None:
    refused = RecordedCall("pay", {"n": 1}, {"error": error}, 1, 3)
    assert Guard("ask", EFFECTS, [refused]).rule("pay", {"n": 1}).do == "run"
    guard = Guard("ask", EFFECTS, [refused, call("pay", n=2)])
    assert [guard.rule("pay", {"n": n}).do for n in (1, 2)] == ["run", "ask"]
    guard = Guard("ask", EFFECTS, [refused, call("pay", n=2)])
    offer = guard.rule("pay", {"n": 3}).offer
    assert offer is not None
    assert offer.args == {"n": 2}


def test_a_call_that_was_rejected_and_then_made_is_in_question() -> None:
    rejected = RecordedCall("pay", {"n": 1}, {"error": "This tool call is rejected."}, 1, 3)
    made = call("pay", n=1)
    guard = Guard("ask", EFFECTS, [rejected, made])
    ruling = guard.rule("pay", {"n": 1})
    assert (ruling.do, ruling.offer, ruling.same_args) == ("ask", made, True)
    assert guard.rule("pay", {"n": 1}).do == "run"  # once per rejected attempt


def test_a_call_that_failed_is_in_question() -> None:
    failed = RecordedCall("pay", {"n": 1}, {"error": "card declined"}, 1, 3)
    assert Guard("ask", EFFECTS, [failed]).rule("pay", {"n": 1}).do == "ask"


def test_an_allowed_call_runs_once_without_a_question() -> None:
    guard = Guard("ask", EFFECTS, [call("pay", n=1), call("pay", n=1)])
    guard.allow("pay", {"n": 1})
    assert [guard.rule("pay", {"n": 1}).do for _ in range(2)] == ["run", "ask"]
