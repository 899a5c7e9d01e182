"""Calls that are answered later (adk-runtime 8.4), also inside workflows (11.5)."""

from collections import Counter
from contextlib import aclosing

import pytest

from devui.runtime.agents import Agent, BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin
from devui.runtime.tools import (
    LongRunningFunctionTool,
    exit_loop,
    get_user_choice,
    request_input,
)
from tests.kit.stages import WHERE, run, runner_of, said, stored
from tests.kit.turns import answer, calls, invocation_of, said_by

BOTH = pytest.mark.parametrize("resumable", [True, False])


async def order(item: str = "tea") -> None:
    """Order."""


async def ticket(item: str = "tea") -> dict:
    """Order."""
    return {"status": "pending"}


def buyer(name: str = "buyer", func=order, then=None, more=()) -> Agent:
    rules = [
        Rule(after=func.__name__, then=Say(f"{name} got {{result}}")),
        Rule(then=then or Call(func.__name__)),
    ]
    tools = [LongRunningFunctionTool(func), *more]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=tools)


def speaker(name: str) -> Agent:
    return Agent(name=name, model=ScriptedLlm(rules=[Rule(then=Say(f"{name} spoke"))]))


@BOTH
async def test_a_call_without_result_pauses_the_turn_until_it_is_answered(resumable):
    runner = runner_of(buyer(), resumable=resumable)
    events = await run(runner)
    [call] = calls(events)
    assert events[-1].long_running_tool_ids == {call.id}
    later = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("buyer", later) == ["buyer got a cup"]
    assert {event.invocation_id for event in later} == {events[0].invocation_id}


@BOTH
async def test_a_paused_run_resumed_without_an_answer_keeps_waiting(resumable):
    agent = buyer()
    runner = runner_of(agent, resumable=resumable)
    await run(runner)
    assert await run(runner, None, invocation_id=await invocation_of(runner)) == []
    assert len(agent.model.requests) == 1


@BOTH
async def test_an_interim_result_is_answered_and_replaced_by_the_last(resumable):
    agent = buyer(func=ticket)
    runner = runner_of(agent, resumable=resumable)
    events = await run(runner)
    assert said_by("buyer", events) == ['buyer got {"status": "pending"}']
    assert not any(event.actions.end_of_agent for event in events)
    [call] = calls(events)
    later = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("buyer", later) == ["buyer got a cup"]
    parts = [part for content in agent.model.requests[-1].contents for part in content.parts]
    assert [p.function_response.response for p in parts if p.function_response] == [
        {"result": "a cup"}
    ]


async def test_after_an_interim_result_a_resumed_run_waits_for_the_last():
    agent = buyer(func=ticket)
    sequence = SequentialAgent(name="seq", sub_agents=[agent, speaker("next")])
    runner = runner_of(sequence, resumable=True)
    await run(runner)
    assert await run(runner, None, invocation_id=await invocation_of(runner)) == []
    assert len(agent.model.requests) == 2


async def test_a_resumable_run_waits_for_both_of_two_open_calls():
    agent = buyer(then=[Call("order", item="a"), Call("order", item="b")])
    runner = runner_of(agent, resumable=True)
    first, second = calls(await run(runner))
    assert await answer(runner, (second, {"result": "b"})) == []
    assert said_by("buyer", await answer(runner, (first, {"result": "a"})))


@BOTH
async def test_a_sequence_waits_and_continues_with_the_next_agent(resumable):
    sequence = SequentialAgent(name="seq", sub_agents=[speaker("one"), buyer(), speaker("two")])
    runner = runner_of(sequence, resumable=resumable)
    events = await run(runner)
    assert said_by("two", events) == []
    if resumable:  # resuming without an answer changes nothing
        assert await run(runner, None, invocation_id=await invocation_of(runner)) == []
    [call] = calls(events)
    later = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("one", later) == []
    assert said_by("buyer", later) == ["buyer got a cup"]
    assert said_by("two", later) == ["two spoke"]
    ends = [event.author for event in later if event.actions.end_of_agent]
    assert ends == (["buyer", "two", "seq"] if resumable else [])


@BOTH
async def test_a_loop_continues_in_the_round_in_which_it_waited(resumable):
    rounds: Counter[str] = Counter()

    async def order() -> str | None:
        rounds["order"] += 1
        return None if rounds["order"] == 2 else "at once"

    loop = LoopAgent(
        name="loop", max_iterations=3, sub_agents=[speaker("a"), buyer(func=order), speaker("b")]
    )
    loop.sub_agents[1].tools = [order_tool(order, rounds)]
    runner = runner_of(loop, resumable=resumable)
    events = await run(runner)
    assert (len(said_by("a", events)), len(said_by("b", events))) == (2, 1)
    call = calls(events)[-1]
    later = await answer(runner, (call, {"result": "late"}))
    assert (len(said_by("a", later)), len(said_by("b", later))) == (1, 2)
    assert rounds["order"] == 3


def order_tool(func, rounds):
    """Return a tool that is long-running in the second round only."""

    class Sometimes(LongRunningFunctionTool):
        @property
        def is_long_running(self):
            return rounds["order"] == 1

        @is_long_running.setter
        def is_long_running(self, value):
            pass

    return Sometimes(func)


@BOTH
async def test_parallel_agents_each_wait_for_their_own_answer(resumable):
    parallel = ParallelAgent(name="par", sub_agents=[buyer("a"), buyer("b"), speaker("c")])
    sequence = SequentialAgent(name="seq", sub_agents=[parallel, speaker("after")])
    runner = runner_of(sequence, resumable=resumable)
    events = await run(runner)
    call_a = next(c for e in events if e.author == "a" for c in e.get_function_calls())
    call_b = next(c for e in events if e.author == "b" for c in e.get_function_calls())
    first = await answer(runner, (call_b, {"result": "B"}))
    assert said_by("b", first) == ["b got B"]
    assert (said_by("a", first), said_by("c", first), said_by("after", first)) == ([], [], [])
    second = await answer(runner, (call_a, {"result": "A"}))
    assert said_by("a", second) == ["a got A"]
    assert (said_by("b", second), said_by("c", second)) == ([], [])
    assert said_by("after", second) == ["after spoke"]


@BOTH
async def test_a_loop_accepts_the_answers_of_its_last_round_one_by_one(resumable):
    agent = buyer(then=[Call("order", item="a"), Call("order", item="b")])
    loop = LoopAgent(name="loop", max_iterations=1, sub_agents=[agent, speaker("next")])
    runner = runner_of(loop, resumable=resumable)
    first, second = calls(await run(runner))
    events = await answer(runner, (second, {"result": "B"}))
    assert said_by("next", events) == []
    events = await answer(runner, (first, {"result": "A"}))
    assert len(said_by("buyer", events)) == 1
    assert said_by("next", events) == ["next spoke"]


@BOTH
@pytest.mark.parametrize("workflow", [SequentialAgent, ParallelAgent])
async def test_each_round_of_a_loop_may_wait_inside_another_workflow(resumable, workflow):
    asker = buyer("asker", then=Call("order"))
    inner = workflow(name="inner", sub_agents=[asker, speaker("other")])
    runner = runner_of(
        LoopAgent(name="loop", max_iterations=2, sub_agents=[inner]), resumable=resumable
    )
    events = await run(runner)
    for round_ in (1, 2):
        call = calls(events)[-1]
        events = await answer(runner, (call, {"result": round_}))
        assert said_by("asker", events) == [f"asker got {round_}"]
    assert calls(events) == []
    answers = [e for e in (await stored(runner)).events if e.author == "other" and e.content]
    assert len(answers) == 2


@BOTH
async def test_a_loop_ends_after_a_round_that_escalated_before_the_question(resumable):
    class Leaving(BaseAgent):
        async def _run_async_impl(self, ctx):
            yield Event(author=self.name, message="enough", actions=EventActions(escalate=True))

    inner = SequentialAgent(name="inner", sub_agents=[Leaving(name="leaving"), buyer()])
    loop = LoopAgent(name="loop", max_iterations=3, sub_agents=[inner, speaker("next")])
    runner = runner_of(loop, resumable=resumable)
    [call] = calls(await run(runner))
    events = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("buyer", events) == ["buyer got a cup"]
    assert said_by("next", events) == []


@pytest.mark.parametrize("workflow", [SequentialAgent, LoopAgent])
async def test_an_answer_that_is_no_longer_awaited_reaches_only_its_agent(workflow):
    settings = {"max_iterations": 1} if workflow is LoopAgent else {}
    root = workflow(name="root", sub_agents=[buyer(), speaker("next")], **settings)
    runner = runner_of(root, resumable=False)
    [call] = calls(await run(runner))
    assert said_by("next", await answer(runner, (call, {"result": "half a cup"}))) == ["next spoke"]
    events = await answer(runner, (call, {"result": "a cup"}))
    assert [event.author for event in events] == ["buyer"]
    assert said_by("buyer", events) == ["buyer got a cup"]


async def test_a_plugin_that_sets_metadata_does_not_disturb_a_waiting_loop():
    class Labelling(BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            event.custom_metadata = {"label": "mine"}

    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[buyer(), speaker("next")])
    runner = runner_of(loop, resumable=False, plugins=[Labelling("labelling")])
    events = await run(runner)
    assert events[-1].custom_metadata["label"] == "mine"
    for _ in range(2):  # it asks in each round
        events = await answer(runner, (calls(events)[-1], {"result": "a cup"}))
        assert said_by("next", events) == ["next spoke"]
    assert calls(events) == []


@BOTH
async def test_a_sequence_continues_after_an_agent_that_its_own_transferred_to(resumable):
    rules = [Rule(then=Call("transfer_to_agent", agent_name="peer"))]
    sub_agents = [Agent(name="child", model=ScriptedLlm(rules=rules)), buyer("peer")]
    rules = [Rule(then=Call("transfer_to_agent", agent_name="child"))]
    team = Agent(name="team", model=ScriptedLlm(rules=rules), sub_agents=sub_agents)
    sequence = SequentialAgent(name="seq", sub_agents=[team, speaker("next")])
    runner = runner_of(sequence, resumable=resumable)
    [call] = [each for each in calls(await run(runner)) if each.name == "order"]
    events = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("peer", events) == ["peer got a cup"]
    assert said_by("next", events) == ["next spoke"]


@BOTH
async def test_a_workflow_below_a_model_agent_continues_as_a_whole(resumable):
    sequence = SequentialAgent(name="seq", sub_agents=[buyer(), speaker("two")])
    root = Agent(
        name="root",
        model=ScriptedLlm(rules=[Rule(then=Call("transfer_to_agent", agent_name="seq"))]),
        sub_agents=[sequence],
    )
    runner = runner_of(root, resumable=resumable)
    [call] = [each for each in calls(await run(runner)) if each.name == "order"]
    later = await answer(runner, (call, {"result": "a cup"}))
    assert said_by("two", later) == ["two spoke"]
    assert len(root.model.requests) == 1


async def test_get_user_choice_returns_the_users_choice():
    rules = [
        Rule(after="get_user_choice", then=Say("{result}!")),
        Rule(then=Call("get_user_choice", options=["red", "blue"])),
    ]
    runner = runner_of(Agent(name="a", model=ScriptedLlm(rules=rules), tools=[get_user_choice]))
    [call] = calls(await run(runner))
    assert said_by("a", await answer(runner, (call, {"result": "blue"}))) == ["blue!"]


async def test_request_input_returns_the_users_input():
    rules = [
        Rule(after="adk_request_input", then=Say("hello {result}")),
        Rule(then=Call("adk_request_input", message="Your name?")),
    ]
    runner = runner_of(Agent(name="a", model=ScriptedLlm(rules=rules), tools=[request_input]))
    [call] = calls(await run(runner))
    assert call.args == {"message": "Your name?"}
    assert said_by("a", await answer(runner, (call, {"result": "Ada"}))) == ["hello Ada"]


async def test_an_escalation_still_counts_when_the_loop_is_resumed():
    rules = [Rule(then=Call("exit_loop"))]
    leaver = Agent(name="leaver", model=ScriptedLlm(rules=rules), tools=[exit_loop])
    loop = LoopAgent(name="loop", max_iterations=5, sub_agents=[leaver, speaker("b")])
    runner = runner_of(loop, resumable=True)
    async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
        async for event in events:
            if event.actions.escalate:
                break
    later = await run(runner, None, invocation_id=await invocation_of(runner))
    assert [event.author for event in later if event.actions.end_of_agent] == ["leaver", "loop"]
    assert said_by("b", later) == []
