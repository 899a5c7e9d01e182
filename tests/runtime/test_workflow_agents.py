"""Sequential, loop and parallel agents (adk-runtime 5.3 to 5.5)."""

import asyncio
from contextlib import aclosing

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.models import Call, Rule, ScriptedLlm
from tests.kit.patience import PATIENCE
from tests.kit.stages import WHERE, Scripted, run, runner_of, said, stored, texts


def progress(events: list[Event]) -> list[tuple]:
    """Return what each event records: its author, and a checkpoint, an end or a text."""
    return [
        (e.author, e.actions.agent_state or e.actions.end_of_agent or texts([e])[0]) for e in events
    ]


def waiting(name: str) -> Scripted:
    async def body(ctx):
        call = types.FunctionCall(id="c1", name="ask", args={})
        yield Event(
            author=name,
            content=types.Content(role="model", parts=[types.Part(function_call=call)]),
            long_running_tool_ids={"c1"},
        )

    return Scripted(name=name, body=body)


async def test_a_sequence_runs_in_order_without_checkpoints_by_default():
    agent = SequentialAgent(name="seq", sub_agents=[Scripted(name="a"), Scripted(name="b")])
    assert texts(await run(runner_of(agent))) == ["a", "b"]


async def test_a_resumable_sequence_records_its_position():
    agent = SequentialAgent(name="seq", sub_agents=[Scripted(name="a"), Scripted(name="b")])
    assert progress(await run(runner_of(agent, resumable=True))) == [
        ("seq", {"current_sub_agent": "a"}),
        ("a", "a"),
        ("seq", {"current_sub_agent": "b"}),
        ("b", "b"),
        ("seq", True),
    ]


async def test_a_sequence_continues_where_it_stopped():
    ran = []

    async def failing_once(ctx):
        ran.append("b")
        if len(ran) == 1:
            raise RuntimeError("crash")
        yield Event(author="b", message="b")

    agent = SequentialAgent(
        name="seq",
        sub_agents=[Scripted(name="a"), Scripted(name="b", body=failing_once), Scripted(name="c")],
    )
    runner = runner_of(agent, resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    invocation = (await stored(runner)).events[0].invocation_id
    assert progress(await run(runner, None, invocation_id=invocation)) == [
        ("b", "b"),
        ("seq", {"current_sub_agent": "c"}),
        ("c", "c"),
        ("seq", True),
    ]
    assert await run(runner, None, invocation_id=invocation) == []


async def test_a_sequence_pauses_at_a_call_that_is_answered_later():
    agent = SequentialAgent(name="seq", sub_agents=[waiting("a"), Scripted(name="b")])
    events = await run(runner_of(agent, resumable=True))
    assert [e.author for e in events] == ["seq", "a"]
    assert not any(e.actions.end_of_agent for e in events)


async def test_a_callbacks_answer_for_one_agent_does_not_end_the_sequence():
    from_callback = types.Content(role="model", parts=[types.Part(text="instead")])
    first = Scripted(name="a", before_agent_callback=lambda callback_context: from_callback)
    agent = SequentialAgent(name="seq", sub_agents=[first, Scripted(name="b")])
    assert texts(await run(runner_of(agent))) == ["instead", "b"]


async def test_a_loop_runs_max_iterations_rounds():
    agent = LoopAgent(name="loop", max_iterations=2, sub_agents=[Scripted(name="a")])
    assert progress(await run(runner_of(agent, resumable=True))) == [
        ("loop", {"current_sub_agent": "a", "times_looped": 0}),
        ("a", "a"),
        ("loop", {"current_sub_agent": "a", "times_looped": 1}),
        ("a", "a"),
        ("loop", True),
    ]
    none = LoopAgent(name="none", max_iterations=0, sub_agents=[Scripted(name="z")])
    assert await run(runner_of(none)) == []
    assert await run(runner_of(LoopAgent(name="empty"))) == []


async def test_a_loop_ends_when_an_agent_escalates():
    rounds = []

    async def checker(ctx):
        rounds.append(len(rounds))
        yield Event(actions=EventActions(escalate=len(rounds) == 3), message="checked")
        yield Event(message="last words")

    never = Scripted(name="later")
    agent = LoopAgent(name="loop", sub_agents=[Scripted(name="a", body=checker), never])
    events = await run(runner_of(agent))
    assert texts(events) == ["checked", "last words", "later"] * 2 + ["checked", "last words"]


async def test_a_loop_of_silent_agents_can_be_stopped():
    async def silent(ctx):
        return
        yield

    agent = LoopAgent(name="loop", sub_agents=[Scripted(name="a", body=silent)])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await run(runner_of(agent))


async def test_a_loop_continues_in_its_round():
    crash = [True]

    async def failing_once(ctx):
        state = ctx.agent_states["loop"]
        if state["times_looped"] == 1 and crash.pop():
            raise RuntimeError("crash")
        yield Event(author="b", message=f"b{state['times_looped']}")

    agent = LoopAgent(
        name="loop",
        max_iterations=2,
        sub_agents=[Scripted(name="a"), Scripted(name="b", body=failing_once)],
    )
    runner = runner_of(agent, resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    crash.append(False)
    invocation = (await stored(runner)).events[0].invocation_id
    assert progress(await run(runner, None, invocation_id=invocation)) == [
        ("b", "b1"),
        ("loop", True),
    ]


async def test_parallel_agents_run_concurrently_on_their_own_branches():
    both = asyncio.Barrier(2)

    def meeting(name: str) -> Scripted:
        async def body(ctx):
            await both.wait()
            yield Event(author=name, branch=ctx.branch, message=name)

        return Scripted(name=name, body=body)

    agent = ParallelAgent(name="par", sub_agents=[meeting("a"), meeting("b")])
    events = await run(runner_of(agent))
    assert {(e.author, e.branch) for e in events} == {("a", "par.a"), ("b", "par.b")}
    nested = SequentialAgent(
        name="seq",
        sub_agents=[
            ParallelAgent(
                name="outer",
                sub_agents=[ParallelAgent(name="inner", sub_agents=[Scripted(name="leaf")])],
            )
        ],
    )
    assert [e.branch for e in await run(runner_of(nested))] == ["outer.inner.inner.leaf"]


async def test_a_parallel_agent_continues_only_after_its_commit():
    order = []

    async def body(ctx):
        yield Event(author="a", state={"k": 1})
        order.append(ctx.session.state["k"])

    agent = ParallelAgent(name="par", sub_agents=[Scripted(name="a", body=body)])
    runner = runner_of(agent)
    events = runner.run_async(
        user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="x")])
    )
    await anext(events)
    for _ in range(5):
        await asyncio.sleep(0)
    assert order == []
    assert [event async for event in events] == []
    assert order == [1]


async def test_the_failure_of_one_agent_stops_the_others_and_is_raised_unchanged():
    stopped = []

    async def waits(ctx):
        try:
            yield Event(message="one")
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    async def fails(ctx):
        raise KeyError("boom")
        yield

    agent = ParallelAgent(
        name="par", sub_agents=[Scripted(name="a", body=waits), Scripted(name="b", body=fails)]
    )
    with pytest.raises(KeyError, match="boom"):
        await run(runner_of(agent))
    assert stopped == [True]


async def exits():
    raise SystemExit(3)


async def fails_twice():
    raise BaseExceptionGroup("two", [KeyError("a"), SystemExit(3)])


async def awaits_what_was_cancelled():
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task


async def cancels_itself():
    asyncio.current_task().cancel()
    await asyncio.Event().wait()


def beside_another(agent: BaseAgent) -> BaseAgent:
    async def waits(ctx):
        await asyncio.Event().wait()
        yield

    return ParallelAgent(name="par", sub_agents=[Scripted(name="waits", body=waits), agent])


def after_hand_overs(agent: BaseAgent) -> BaseAgent:
    for number in range(20):
        model = ScriptedLlm(rules=[Rule(then=Call("transfer_to_agent", agent_name=agent.name))])
        agent = LlmAgent(name=f"desk_{number}", model=model, sub_agents=[agent])
    return agent


@pytest.mark.parametrize("within", [beside_another, after_hand_overs])
@pytest.mark.parametrize(
    ("ends", "kind"),
    [
        (exits, SystemExit),
        (fails_twice, BaseExceptionGroup),
        (awaits_what_was_cancelled, RuntimeError),
        (cancels_itself, RuntimeError),
    ],
)
async def test_an_agent_in_its_own_task_ends_the_run_whatever_it_raises(within, ends, kind):
    async def body(ctx):
        await ends()
        yield

    before = asyncio.all_tasks()
    with pytest.raises(kind):
        async with asyncio.timeout(PATIENCE):
            await run(runner_of(within(Scripted(name="ends", body=body))))
    assert asyncio.all_tasks() == before


async def test_stopped_agents_end_even_if_their_cleanup_fails():
    async def fails_late(ctx):
        try:
            yield Event(message="one")
            await asyncio.Event().wait()
        finally:
            raise SystemExit(3)

    names = ("a", "b", "c")
    agent = ParallelAgent(name="par", sub_agents=[Scripted(name=n, body=fails_late) for n in names])
    async with asyncio.timeout(PATIENCE):
        async with aclosing(runner_of(agent).run_async(**WHERE, new_message=said("go"))) as events:
            assert texts([await anext(events)]) == ["one"]


async def test_an_agent_that_escalates_stops_the_others():
    stopped = []

    async def waits(ctx):
        try:
            await asyncio.Event().wait()
            yield
        finally:
            stopped.append(True)

    async def escalates(ctx):
        yield Event(actions=EventActions(escalate=True), message="enough")

    agent = ParallelAgent(
        name="par", sub_agents=[Scripted(name="a", body=waits), Scripted(name="b", body=escalates)]
    )
    events = await run(runner_of(agent, resumable=True))
    assert texts(events) == ["enough"]
    assert stopped == [True]
    assert events[-1].actions.end_of_agent


async def test_parallel_agents_that_ended_are_not_rerun():
    def ending(name: str, ran: list[str]) -> Scripted:
        async def body(ctx):
            ran.append(name)
            if name == "b" and len(ran) < 3:
                raise RuntimeError("crash")
            yield ctx.agent._create_agent_state_event(ctx, end_of_agent=True)

        return Scripted(name=name, body=body)

    ran: list[str] = []
    agent = ParallelAgent(name="par", sub_agents=[ending("a", ran), ending("b", ran)])
    runner = runner_of(agent, resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    invocation = (await stored(runner)).events[0].invocation_id
    finished_names = [e.author for e in (await stored(runner)).events if e.actions.end_of_agent]
    events = await run(runner, None, invocation_id=invocation)
    assert ran[2:] == [name for name in ("a", "b") if name not in finished_names]
    assert events[-1].author == "par"
    assert events[-1].actions.end_of_agent
