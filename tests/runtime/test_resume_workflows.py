"""Nested workflows, stopped after each event and resumed (resume seed)."""

from collections import Counter
from contextlib import aclosing

import pytest

from devui.runtime.agents import Agent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.errors import InvocationNotFoundError
from devui.runtime.models import Rule, Say, ScriptedLlm
from tests.kit.stages import WHERE, Scripted, run, runner_of, said, stored
from tests.kit.turns import invocation_of


def speaker(name: str) -> Agent:
    return Agent(name=name, model=ScriptedLlm(rules=[Rule(then=Say(f"{name} spoke"))]))


def sequence() -> BaseAgent:
    return SequentialAgent(name="seq", sub_agents=[speaker("a"), speaker("b"), speaker("c")])


def loop_of_parallels() -> BaseAgent:
    """Return a loop whose agents end in one round and must run again in the next."""
    parallel = ParallelAgent(name="par", sub_agents=[speaker("a"), speaker("b")])
    return LoopAgent(name="loop", max_iterations=2, sub_agents=[parallel, speaker("c")])


def sequence_of_loops() -> BaseAgent:
    loop = LoopAgent(name="loop", max_iterations=2, sub_agents=[speaker("a"), speaker("b")])
    return SequentialAgent(name="seq", sub_agents=[speaker("c"), loop, speaker("d")])


def texts_by_author(events) -> Counter[str]:
    return Counter(event.author for event in events if event.content and event.author != "user")


@pytest.mark.parametrize("tree", [sequence, loop_of_parallels, sequence_of_loops])
async def test_after_any_stop_each_agent_speaks_as_often_as_in_a_whole_run(tree):
    whole = await run(runner_of(tree(), resumable=True))
    for count in range(1, len(whole)):
        runner = runner_of(tree(), resumable=True)
        async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
            for _ in range(count):
                await anext(events)
        await run(runner, None, invocation_id=await invocation_of(runner))
        history = (await stored(runner)).events
        assert texts_by_author(history) == texts_by_author(whole), f"stopped after {count} events"
        assert history[-1].actions.end_of_agent
        assert history[-1].author == whole[-1].author


async def test_a_workflow_without_checkpoints_cannot_be_resumed_without_a_message():
    runner = runner_of(sequence())
    await run(runner)
    with pytest.raises(ValueError, match="ResumabilityConfig"):
        await run(runner, None, invocation_id=await invocation_of(runner))


async def test_a_custom_agent_is_entered_again_until_its_checkpoint_says_it_ended():
    entered = []

    async def body(ctx):
        entered.append(ctx.invocation_id)
        yield ctx.agent._create_agent_state_event(ctx, end_of_agent=len(entered) == 2)

    runner = runner_of(Scripted(name="own", body=body), resumable=True)
    await run(runner)
    invocation = await invocation_of(runner)
    await run(runner, None, invocation_id=invocation)
    assert entered == [invocation, invocation]
    assert await run(runner, None, invocation_id=invocation) == []


async def test_an_unknown_invocation_is_an_error():
    runner = runner_of(sequence(), resumable=True)
    await run(runner)
    with pytest.raises(InvocationNotFoundError, match="e-none"):
        await run(runner, None, invocation_id="e-none")
