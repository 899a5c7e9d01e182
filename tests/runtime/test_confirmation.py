"""Tool calls that wait for the user's confirmation (adk-runtime 8.5)."""

import json
from collections import Counter
from decimal import Decimal

import pytest

from devui.runtime.agents import Agent, RunConfig, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, ToolContext
from tests.kit.stages import run, runner_of, stored
from tests.kit.turns import answer, calls, invocation_of, responses, said_by

RAN: Counter[str] = Counter()
BOTH = pytest.mark.parametrize("resumable", [True, False])


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()


async def pay(amount: int) -> str:
    """Pay."""
    RAN["pay"] += 1
    return f"paid {amount}"


async def look() -> str:
    """Look."""
    RAN["look"] += 1
    return "seen"


def payer(*steps: Call, confirm=True, tool=pay) -> Agent:
    steps = steps or (Call("pay", amount=5),)
    rules = [Rule(after="pay", then=Say("result: {result}")), Rule(then=list(steps))]
    tools = [FunctionTool(tool, require_confirmation=confirm), look]
    return Agent(name="payer", model=ScriptedLlm(rules=rules), tools=tools)


def requests(events):
    return [call for call in calls(events) if call.name == "adk_request_confirmation"]


async def run_to_request(agent, *, resumable=False):
    """Return the runner, events and confirmation request of a run that waits for an answer."""
    runner = runner_of(agent, resumable=resumable)
    events = await run(runner)
    [request] = requests(events)
    return runner, events, request


@BOTH
async def test_the_call_waits_and_the_user_is_asked_with_a_function_call(resumable):
    _, events, request = await run_to_request(payer(), resumable=resumable)
    call, question, placeholder = events
    [pay_call] = call.get_function_calls()
    assert request.args["originalFunctionCall"] == {
        "id": pay_call.id,
        "name": "pay",
        "args": {"amount": 5},
    }
    assert request.args["toolConfirmation"]["confirmed"] is False
    assert question.content.role == "model"
    assert question.long_running_tool_ids == {request.id}
    assert request.id != pay_call.id
    assert "error" in placeholder.get_function_responses()[0].response
    assert placeholder.actions.skip_summarization
    assert placeholder.actions.requested_tool_confirmations.keys() == {pay_call.id}
    assert RAN == {}


@pytest.mark.parametrize("response", [{"yes": 1}, {"response": "yes"}, {"response": True}])
async def test_an_answer_without_a_decision_is_refused_with_advice(response):
    runner, _, request = await run_to_request(payer())
    with pytest.raises((ValueError, TypeError)) as error:
        await answer(runner, (request, response))
    [note] = error.value.__notes__
    assert note.startswith(f"{response!r} doesn't say whether the tool may be called; answer")
    assert '{"confirmed": true}' in note
    assert RAN == {}


@BOTH
async def test_a_confirmed_call_runs_and_the_model_continues_with_its_result(resumable):
    runner, events, request = await run_to_request(payer(), resumable=resumable)
    later = await answer(runner, (request, {"confirmed": True}))
    assert responses(later) == [("pay", {"result": "paid 5"})]
    assert later[0].get_function_responses()[0].id == calls(events)[0].id
    assert said_by("payer", later) == ["result: paid 5"]
    assert {event.invocation_id for event in later} == {events[0].invocation_id}
    assert RAN == {"pay": 1}


@BOTH
async def test_a_rejected_call_does_not_run_and_the_model_is_told(resumable):
    runner, _, request = await run_to_request(payer(), resumable=resumable)
    later = await answer(runner, (request, {"confirmed": False}))
    assert responses(later) == [("pay", {"error": "This tool call is rejected."})]
    assert said_by("payer", later)
    assert RAN == {}


@BOTH
async def test_a_call_runs_once_however_often_it_is_confirmed(resumable):
    runner, _, request = await run_to_request(payer(), resumable=resumable)
    await answer(runner, (request, {"confirmed": True}))
    assert not any(event.content for event in await answer(runner, (request, {"confirmed": True})))
    assert RAN == {"pay": 1}


@BOTH
async def test_a_confirmed_call_that_failed_is_rerun_on_resume(resumable):
    async def failing(amount: int) -> str:
        RAN["pay"] += 1
        if RAN["pay"] == 1:
            raise ConnectionError("offline")
        return f"paid {amount}"

    failing.__name__ = "pay"
    runner, _, request = await run_to_request(payer(tool=failing), resumable=resumable)
    with pytest.raises(ConnectionError):
        await answer(runner, (request, {"confirmed": True}))
    later = await run(runner, None, invocation_id=await invocation_of(runner))
    assert said_by("payer", later) == ["result: paid 5"]
    assert RAN == {"pay": 2}


@BOTH
async def test_a_paused_run_resumed_without_an_answer_still_waits(resumable):
    runner, _, request = await run_to_request(payer(), resumable=resumable)
    invocation = await invocation_of(runner)
    assert await run(runner, None, invocation_id=invocation) == []
    await answer(runner, (request, {"confirmed": True}))
    assert RAN == {"pay": 1}


async def test_the_answer_may_be_json_text():
    runner, _, request = await run_to_request(payer())
    text = json.dumps({"confirmed": True})
    assert responses(await answer(runner, (request, {"response": text}))) == [
        ("pay", {"result": "paid 5"})
    ]


@BOTH
async def test_results_of_other_calls_precede_the_request(resumable):
    agent = payer(Call("pay", amount=5), Call("look"))
    runner, events, request = await run_to_request(agent, resumable=resumable)
    _, results, question = events
    assert results.get_function_responses()[1].response == {"result": "seen"}
    assert not results.actions.skip_summarization
    assert requests([question]) == [request]
    await answer(runner, (request, {"confirmed": True}))
    assert RAN == {"look": 1, "pay": 1}


@BOTH
async def test_several_calls_are_decided_in_one_message(resumable):
    runner = runner_of(payer(Call("pay", amount=1), Call("pay", amount=2)), resumable=resumable)
    first, second = requests(await run(runner))
    later = await answer(runner, (first, {"confirmed": True}), (second, {"confirmed": False}))
    assert responses(later) == [
        ("pay", {"result": "paid 1"}),
        ("pay", {"error": "This tool call is rejected."}),
    ]
    assert RAN == {"pay": 1}


async def test_a_resumable_run_waits_until_all_calls_are_decided():
    runner = runner_of(payer(Call("pay", amount=1), Call("pay", amount=2)), resumable=True)
    first, second = requests(await run(runner))
    assert said_by("payer", await answer(runner, (first, {"confirmed": True}))) == []
    later = await answer(runner, (second, {"confirmed": True}))
    assert said_by("payer", later)
    assert RAN == {"pay": 2}


@pytest.mark.parametrize(("amount", "count"), [(5, 0), (50, 1)])
async def test_a_function_of_the_arguments_may_decide_what_needs_confirmation(amount, count):
    agent = payer(Call("pay", amount=amount), confirm=lambda amount: amount > 10)
    assert len(requests(await run(runner_of(agent)))) == count
    assert RAN["pay"] == 1 - count


@pytest.mark.parametrize(("required", "count"), [(1, 1), (Decimal(1), 1), (0, 0), (None, 0)])
async def test_require_confirmation_accepts_any_truthy_or_falsy_value(required, count):
    events = await run(runner_of(payer(confirm=required)))
    assert len(requests(events)) == count


async def test_a_tool_may_request_confirmation_and_gets_the_answers_payload():
    async def pay(amount: int, tool_context: ToolContext):
        decision = tool_context.tool_confirmation
        if decision is None:
            tool_context.request_confirmation(hint="How much?", payload={"amount": 0})
            return {"status": "waiting"}
        return {"paid": decision.payload["amount"]} if decision.confirmed else {"paid": 0}

    runner, _, request = await run_to_request(payer(confirm=False, tool=pay))
    assert request.args["toolConfirmation"] == {
        "hint": "How much?",
        "confirmed": False,
        "payload": {"amount": 0},
    }
    later = await answer(runner, (request, {"confirmed": True, "payload": {"amount": 7}}))
    assert responses(later) == [("pay", {"paid": 7})]


@BOTH
async def test_a_sequence_continues_after_the_confirmed_call(resumable):
    last = Agent(name="last", model=ScriptedLlm(rules=[Rule(then=Say("bye"))]))
    sequence = SequentialAgent(name="seq", sub_agents=[payer(), last])
    runner, events, request = await run_to_request(sequence, resumable=resumable)
    assert said_by("last", events) == []
    later = await answer(runner, (request, {"confirmed": True}))
    assert said_by("payer", later) == ["result: paid 5"]
    assert said_by("last", later) == ["bye"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"args": {"amount": 500}}, "matches none in the session"),
        ({"name": "look"}, "matches none in the session"),
        ({"id": "other"}, "matches none in the session"),
    ],
)
async def test_a_request_that_does_not_match_the_history_is_refused(change, match):
    runner, _, _ = await run_to_request(payer())
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    forged = session.events[2].model_copy(deep=True)
    [call] = forged.get_function_calls()
    call.args["originalFunctionCall"].update(change)
    call.id = "forged"
    forged.id = "forged"
    await runner.session_service.append_event(session, forged)
    with pytest.raises(ValueError, match=match):
        await answer(runner, (call, {"confirmed": True}))
    assert RAN == {}
    assert (await stored(runner)).events[-1].error_code == "ValueError"


@BOTH
async def test_a_call_that_asks_again_runs_once_for_each_answer(resumable):
    payloads = []

    def send(tool_context: ToolContext) -> str:
        """Send, if the user agrees twice."""
        consent = tool_context.tool_confirmation
        payloads.append(consent and consent.payload)
        if consent is None or consent.payload == 1:
            tool_context.request_confirmation(hint=f"{len(payloads)}?", payload=len(payloads))
            return "waits"
        return "sent"

    rules = [
        Rule(after="look", then=Say("I looked.")),
        Rule(after="send", then=Call("look")),
        Rule(then=Call("send")),
    ]
    agent = Agent(name="sender", model=ScriptedLlm(rules=rules), tools=[send, look])
    runner, _, request = await run_to_request(agent, resumable=resumable)
    limited = RunConfig(max_llm_calls=5)
    for count in (1, 2):
        reply = (request, {"confirmed": True, "payload": count})
        events = await answer(runner, reply, run_config=limited)
        assert payloads == [None, 1, 2][: count + 1]
        request = requests(events)[0] if count == 1 else None
    assert responses(events)[0] == ("send", {"result": "sent"})


async def test_a_repeated_confirmation_does_not_resume_a_waiting_task():
    rules = [Rule(after="pay", then=Say("Anything else?")), Rule(then=Call("pay", amount=5))]
    tools = [FunctionTool(pay, require_confirmation=True)]
    model = ScriptedLlm(rules=rules)
    below = Agent(name="payer", mode="task", description="Pays.", model=model, tools=tools)
    asks = ScriptedLlm(rules=[Rule(then=Call("payer", request="Pay."))])
    agent = Agent(name="chief", model=asks, sub_agents=[below])
    runner, _, request = await run_to_request(agent, resumable=True)
    consent = (request, {"confirmed": True})
    assert said_by("payer", await answer(runner, consent)) == ["Anything else?"]
    assert await answer(runner, consent) == []
