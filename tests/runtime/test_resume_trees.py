"""Any tree of agents, stopped after any event and resumed, has the same result (resume seed).

Trees consist of Sequential, Loop, Parallel and model agents with tools. Events of parallel agents
may come in any order, so events are compared per agent and branch.
"""

from collections import defaultdict
from contextlib import aclosing
from typing import Any

from google.genai import types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devui.runtime.agents import Agent, BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.models import BaseLlm, LlmResponse
from tests.kit.rounds import rounds
from tests.kit.stages import WHERE, run, runner_of, said, stored
from tests.kit.turns import invocation_of

ROUNDS = 2


class Worker(BaseLlm):
    """A model that calls its tools and then answers; only the request determines how."""

    model: str = "worker"
    plan: tuple[tuple[str, ...], ...] = ()
    """The tools called by each answer before the last one."""

    async def generate_content_async(self, llm_request, stream=False):
        round_number = 0
        for content in reversed(llm_request.contents):
            if any(part.function_response for part in content.parts):
                round_number += 1
            elif not any(part.function_call for part in content.parts):
                break
        if round_number < len(self.plan):
            calls = [
                types.FunctionCall(name=name, args={"n": round_number})
                for name in self.plan[round_number]
            ]
            parts = [types.Part(function_call=call) for call in calls]
        else:
            parts = [types.Part(text=f"done after {round_number}")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def note(n: int, tool_context) -> str:
    """Leave a mark in the state."""
    tool_context.state[f"{tool_context.agent_name} noted"] = n
    return f"noted {n}"


async def look(n: int) -> dict:
    """Look."""
    return {"seen": n}


answers = st.lists(st.sampled_from(["note", "look"]), min_size=1, max_size=2).map(tuple)
plans = st.lists(answers, max_size=2).map(tuple)
kinds = st.sampled_from([SequentialAgent, LoopAgent, ParallelAgent])
plants = st.recursive(
    plans, lambda inner: st.tuples(kinds, st.lists(inner, min_size=1, max_size=3)), max_leaves=4
).filter(lambda plant: plant and isinstance(plant[0], type))


def grown(plant: Any, name: str = "a") -> BaseAgent:
    """Return the agents of a plan, named by their position."""
    if plant and isinstance(plant[0], type):
        kind, inner = plant
        agents = [grown(each, f"{name}{number}") for number, each in enumerate(inner)]
        rounds = {"max_iterations": ROUNDS} if kind is LoopAgent else {}
        return kind(name=name, sub_agents=agents, **rounds)
    return Agent(name=name, model=Worker(plan=plant), tools=[note, look], output_key=f"{name} said")


def history_of(events) -> dict[tuple, list]:
    """Return what each agent did on each branch, without ids and times."""
    by_place = defaultdict(list)
    for event in events:
        parts = event.content.parts if event.content else []
        by_place[(event.author, event.branch)].append(
            (
                [part.text or _call(part) for part in parts],
                event.actions.state_delta,
                event.actions.agent_state,
                event.actions.end_of_agent,
                event.error_code,
            )
        )
    return by_place


def _call(part: types.Part) -> tuple:
    if part.function_call:
        return ("call", part.function_call.name, part.function_call.args)
    return ("response", part.function_response.name, part.function_response.response)


async def finish(runner):
    """Resume the invocation and return the session."""
    await run(runner, None, invocation_id=await invocation_of(runner))
    return await stored(runner)


async def undisturbed(plant):
    """Return the session of an uninterrupted run."""
    runner = runner_of(grown(plant), resumable=True)
    await run(runner)
    return await stored(runner)


many = settings(
    max_examples=rounds(20, 50), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@many
@given(plant=plants, data=st.data())
async def test_a_tree_killed_after_any_event_has_the_same_result(plant, data):
    whole = await undisturbed(plant)
    commits = data.draw(st.integers(2, len(whole.events) - 1), label="events that were committed")
    runner = runner_of(grown(plant), resumable=True)
    service = runner.session_service
    session = await service.create_session(app_name=runner.app_name, **WHERE)
    for event in whole.events[:commits]:
        await service.append_event(session, event.model_copy(deep=True))
    session = await finish(runner)
    assert history_of(session.events) == history_of(whole.events)
    assert session.state == whole.state


@many
@given(plant=plants, data=st.data())
async def test_a_tree_left_by_its_caller_after_any_event_has_the_same_result(plant, data):
    whole = await undisturbed(plant)
    count = data.draw(st.integers(1, len(whole.events) - 2), label="events that were seen")
    runner = runner_of(grown(plant), resumable=True)
    async with aclosing(runner.run_async(**WHERE, new_message=said("go"))) as events:
        for _ in range(count):
            await anext(events)
    session = await finish(runner)
    assert history_of(session.events) == history_of(whole.events)
    assert session.state == whole.state
