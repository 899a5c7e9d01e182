"""A run interrupted in a tool continues there (resume seed; adk-runtime 11)."""

import asyncio
from collections import Counter
from contextlib import aclosing

import pytest
from pydantic import BaseModel

from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.code_executors import BaseCodeExecutor, CodeExecutionResult
from devui.runtime.events import Event
from devui.runtime.models import Call, LlmCapabilities, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.kit.stages import WHERE, run, runner_of, said, stored, texts
from tests.kit.turns import answer, calls, invocation_of, responses, said_by


class Shop:
    """Tools a, b and c; c fails `failures` times."""

    def __init__(self, failures: int = 1) -> None:
        self.ran: Counter[str] = Counter()
        self.failures = failures
        self.others_ran = asyncio.Event()

    async def a(self) -> str:
        self.ran["a"] += 1
        return "A"

    async def b(self) -> str:
        self.ran["b"] += 1
        self.others_ran.set()
        return "B"

    async def c(self) -> str:
        self.ran["c"] += 1
        await self.others_ran.wait()
        if self.failures:
            self.failures -= 1
            raise ConnectionError("offline")
        return "C"


def chain() -> list[Rule]:
    return [
        Rule(after="c", then=Say("all done: {result}")),
        Rule(after="b", then=Call("c")),
        Rule(after="a", then=Call("b")),
        Rule(then=Call("a")),
    ]


def batch() -> list[Rule]:
    return [
        Rule(after="a", then=Say("all done")),
        Rule(then=[Call("a"), Call("c"), Call("b")]),
    ]


def agent_of(shop: Shop, rules: list[Rule], name: str = "buyer") -> Agent:
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[shop.a, shop.b, shop.c])


@pytest.mark.parametrize("resumable", [True, False])
async def test_finished_tools_are_restored_and_only_the_failed_one_is_rerun(resumable):
    shop = Shop()
    agent = agent_of(shop, chain())
    runner = runner_of(agent, resumable=resumable)
    with pytest.raises(ConnectionError):
        await run(runner)
    invocation = await invocation_of(runner)
    events = await run(runner, None, invocation_id=invocation)
    assert shop.ran == {"a": 1, "b": 1, "c": 2}
    assert responses(events) == [("c", {"result": "C"})]
    assert said_by("buyer", events) == ["all done: C"]
    assert {event.invocation_id for event in events} == {invocation}
    assert len(agent.model.requests) == 4, "nothing was asked twice"
    assert bool(events[-1].actions.end_of_agent) is resumable


@pytest.mark.parametrize("resumable", [True, False])
async def test_resuming_a_batch_reruns_only_the_calls_without_a_result(resumable):
    shop = Shop(failures=2)
    agent = agent_of(shop, batch())
    runner = runner_of(agent, resumable=resumable)
    with pytest.raises(ConnectionError):
        await run(runner)
    results = responses((await stored(runner)).events)
    assert results == [("a", {"result": "A"}), ("b", {"result": "B"})]
    invocation = await invocation_of(runner)
    with pytest.raises(ConnectionError):
        await run(runner, None, invocation_id=invocation)
    events = await run(runner, None, invocation_id=invocation)
    assert shop.ran == {"a": 1, "b": 1, "c": 3}
    assert said_by("buyer", events) == ["all done"]
    parts = agent.model.requests[-1].contents[-1].parts
    assert [part.function_response.name for part in parts] == ["a", "c", "b"], "in call order"
    assert len(agent.model.requests) == 2


async def test_a_cancelled_call_of_a_batch_is_rerun():
    shop = Shop(failures=0)
    begun = asyncio.Event()

    async def stuck() -> str:
        shop.ran["stuck"] += 1
        begun.set()
        if shop.ran["stuck"] == 1:
            await asyncio.Event().wait()
        return "free"

    rules = [Rule(after="stuck", then=Say("through")), Rule(then=[Call("stuck"), Call("a")])]
    agent = Agent(name="buyer", model=ScriptedLlm(rules=rules), tools=[stuck, shop.a])
    runner = runner_of(agent, resumable=True)
    turn = asyncio.create_task(run(runner))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert said_by("buyer", events) == ["through"]
    assert shop.ran["stuck"] == 2
    assert len(agent.model.requests) == 2


async def test_a_failed_model_call_is_repeated():
    answers = [ConnectionError("no net"), None]

    def flaky(callback_context, llm_request):
        if error := answers.pop(0):
            raise error

    agent = Agent(
        name="talker", model=ScriptedLlm(rules=[Rule(then=Say("hi"))]), before_model_callback=flaky
    )
    runner = runner_of(agent, resumable=True)
    with pytest.raises(ConnectionError):
        await run(runner)
    invocation = await invocation_of(runner)
    assert said_by("talker", await run(runner, None, invocation_id=invocation)) == ["hi"]
    assert await run(runner, None, invocation_id=invocation) == []


async def test_an_agent_whose_answer_is_stored_is_not_asked_again():
    agent = Agent(name="talker", model=ScriptedLlm(rules=[Rule(then=Say("hi"))]))
    runner = runner_of(agent, resumable=True)
    async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
        assert (await anext(events)).content
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert [event.actions.end_of_agent for event in events] == [True]
    assert len(agent.model.requests) == 1


@pytest.mark.parametrize("alone", [True, False])
async def test_an_after_agent_callback_is_called_again_only_if_it_failed(alone):
    answers = [ConnectionError("no net"), said("bye")]

    def after(callback_context):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    talker = talking("talker", after_agent_callback=after)
    tree = SequentialAgent(name="both", sub_agents=[talker, talking("next")])
    runner = runner_of(talker if alone else tree, resumable=True)
    with pytest.raises(ConnectionError):
        await run(runner)
    invocation = await invocation_of(runner)
    async with aclosing(runner.run_async(**WHERE, invocation_id=invocation)) as events:
        assert said_by("talker", [await anext(events), await anext(events)]) == ["bye"]
    rest = await run(runner, None, invocation_id=invocation)
    assert texts(rest) == ([] if alone else ["hi"])
    assert len(talker.model.requests) == 1


def talking(name, **fields):
    return Agent(name=name, model=ScriptedLlm(rules=[Rule(then=Say("hi"))]), **fields)


class Calculator(BaseCodeExecutor):
    def execute_code(self, invocation_context, code_execution_input):
        return CodeExecutionResult(stdout="42")


class Plain(ScriptedLlm):
    """A model that supports either a schema or tools."""

    @property
    def capabilities(self):
        return LlmCapabilities()


class Count(BaseModel):
    count: int


def coder() -> Agent:
    code = Say("```python\nprint(6 * 7)\n```")
    rules = [Rule(user="tool_output", then=Say("It is 42.")), Rule(then=code)]
    model = ScriptedLlm(model="gemini-scripted", rules=rules)
    return Agent(name="coder", model=model, code_executor=Calculator())


def counter() -> Agent:
    rules = [Rule(after="a", then=Call("set_model_response", count=3)), Rule(then=Call("a"))]
    tools = [Shop().a]
    return Agent(name="counter", model=Plain(rules=rules), tools=tools, output_schema=Count)


def chief() -> Agent:
    says = ScriptedLlm(rules=[Rule(then=Say("Rain."))])
    expert = Agent(name="expert", description="Knows.", mode="single_turn", model=says)
    rules = [Rule(after="expert", then=Say("{result}")), Rule(then=Call("expert", request="Rome"))]
    return Agent(name="chief", model=ScriptedLlm(rules=rules), sub_agents=[expert])


@pytest.mark.parametrize("make", [coder, counter, chief])
async def test_a_turn_left_at_any_event_does_not_repeat_its_work(make):
    whole = runner_of(make(), resumable=True)
    events = await run(whole)
    for left_after in range(1, len(events)):
        runner = runner_of(make(), resumable=True)
        async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as first_events:
            for _ in range(left_after):
                await anext(first_events)
        await run(runner, None, invocation_id=await invocation_of(runner))
        assert outcome((await stored(runner)).events) == outcome(events), left_after


def outcome(events: list[Event]) -> list[tuple[str, object]]:
    """Return who said, called and returned what, without ids."""
    ids = {"function_call": {"id"}, "function_response": {"id"}}
    return [
        (event.author, part.model_dump(exclude_none=True, exclude=ids))
        for event in events
        if event.author != "user" and event.content
        for part in event.content.parts or []
    ]


async def test_a_run_that_failed_after_a_transfer_continues_with_the_new_agent():
    shop = Shop()
    helper = agent_of(shop, chain(), name="helper")
    root = Agent(
        name="root",
        model=ScriptedLlm(rules=[Rule(then=Call("transfer_to_agent", agent_name="helper"))]),
        sub_agents=[helper],
    )
    runner = runner_of(root, resumable=True)
    with pytest.raises(ConnectionError):
        await run(runner)
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert shop.ran == {"a": 1, "b": 1, "c": 2}
    ends = [event.author for event in events if event.actions.end_of_agent]
    assert ends == ["helper", "root"]
    assert len(root.model.requests) == 1


async def test_a_failed_tool_in_a_sequence_is_rerun_and_the_sequence_continues():
    shop = Shop()
    first = agent_of(shop, batch(), name="first")
    last = Agent(name="last", model=ScriptedLlm(rules=[Rule(then=Say("bye"))]))
    runner = runner_of(SequentialAgent(name="seq", sub_agents=[first, last]), resumable=True)
    with pytest.raises(ConnectionError):
        await run(runner)
    events = await run(runner, None, invocation_id=await invocation_of(runner))
    assert said_by("first", events) == ["all done"]
    assert said_by("last", events) == ["bye"]
    assert shop.ran == {"a": 1, "b": 1, "c": 2}


async def test_a_failed_long_running_call_is_rerun_and_a_waiting_one_is_not():
    ran = Counter()

    def order() -> None:
        ran["order"] += 1
        if ran["order"] == 1:
            raise ConnectionError("offline")

    rules = [Rule(after="order", then=Say("ordered: {result}")), Rule(then=Call("order"))]
    tools = [LongRunningFunctionTool(order)]
    runner = runner_of(Agent(name="buyer", model=ScriptedLlm(rules=rules), tools=tools))
    with pytest.raises(ConnectionError):
        await run(runner)
    invocation = await invocation_of(runner)
    again = await run(runner, None, invocation_id=invocation)
    assert [event.content for event in again] == [None]
    assert await run(runner, None, invocation_id=invocation) == []
    assert ran["order"] == 2
    [call] = calls((await stored(runner)).events)
    assert said_by("buyer", await answer(runner, (call, {"result": "soon"}))) == ["ordered: soon"]


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a tool"])
@pytest.mark.parametrize("count", [1, 2, 3])
async def test_a_question_interrupted_halfway_is_asked_and_its_answer_is_used(beside, count):
    """The question and the placeholder response are two events, in either order."""
    paid = []

    def pay() -> str:
        paid.append("paid")
        return "paid"

    first_calls = [Call("pay"), Call("b")] if beside else [Call("pay")]
    rules = [
        Rule(after="pay", then=Say("paid")),
        Rule(after="b", then=Say("paid")),
        Rule(then=first_calls),
    ]
    tools = [FunctionTool(pay, require_confirmation=True), Shop().b]
    runner = runner_of(Agent(name="buyer", model=ScriptedLlm(rules=rules), tools=tools))
    async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
        for _ in range(count):
            await anext(events)
    await run(runner, None, invocation_id=await invocation_of(runner))
    questions = calls((await stored(runner)).events)
    [question] = [call for call in questions if call.name == "adk_request_confirmation"]
    await answer(runner, (question, {"confirmed": True}))
    assert paid == ["paid"]
    assert said_by("buyer", (await stored(runner)).events)[-1] == "paid"
