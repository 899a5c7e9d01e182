"""The guard's rulings: which call runs, which is asked about, which is answered from the record."""

import pytest

from devui.debugger.guard.effects import UNKNOWN, ToolEffect, from_code
from devui.debugger.guard.guard import Guard, Policy
from devui.debugger.guard.recorded import RecordedCall

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
def test_only_what_is_not_safe_and_has_run_is_in_question(policy: Policy, tool: str) -> None:
    ran = [call(each, n=1) for each in (*EFFECTS, "nobody_knows")]
    ruling = Guard(policy, EFFECTS, ran).rule(tool, {"n": 1})
    safe = tool in {"look", "store", "never_ran"} or policy == "run"
    assert ruling.do == ("run" if safe else "answer" if policy == "recorded" else "ask")
    assert (ruling.offer is not None) is not safe
    assert ruling.effect == EFFECTS.get(tool, UNKNOWN)


def test_each_record_is_handed_out_once_those_with_the_same_arguments_first() -> None:
    guard = Guard("recorded", EFFECTS, [call("pay", n=1), call("pay", n=2), call("pay", n=2)])
    rulings = [guard.rule("pay", {"n": n}) for n in (2, 2, 2, 2)]
    assert [ruling.do for ruling in rulings] == ["answer", "answer", "ask", "ask"]
    assert [ruling.exact for ruling in rulings] == [True, True, False, False]
    assert [ruling.offer.args["n"] if ruling.offer else None for ruling in rulings] == [
        2,
        2,
        1,
        None,
    ]


def test_what_somebody_has_decided_about_runs_once_without_a_question() -> None:
    guard = Guard("ask", EFFECTS, [call("pay", n=1), call("pay", n=1)])
    guard.allow("pay", {"n": 1})
    assert [guard.rule("pay", {"n": 1}).do for _ in range(2)] == ["run", "ask"]
