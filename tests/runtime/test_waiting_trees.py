"""Waiting agents anywhere in a tree: no answer is lost, nothing is done twice (resume seed).

Each message goes to a new Runner with a new tree, as after a restart.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent, LoopAgent
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.tools import FunctionTool, ToolContext
from devui.runtime.workflow import JoinNode, Workflow, node
from tests.kit.waiting_agents import AgentFactory, Caller, Play, both, chain, played, steps


def expert_of_an_expert(factory: AgentFactory) -> LlmAgent:
    far = factory.expert("y", experts=(factory.expert("b", "job"),))
    return factory.agent("x", experts=(factory.expert("a", "consent"), far))


TREES: dict[str, tuple[Callable[[AgentFactory], Any], list[list[str]]]] = {
    "a job and a consent in one message": (
        lambda g: g.agent("a", "job", "consent"),
        [["job_a0", "consent_a1"]],
    ),
    "side by side, a job and a consent in one message": (
        lambda g: both(g.agent("a", "job"), g.agent("b", "consent")),
        [["job_a0", "consent_b0"]],
    ),
    "experts, a job and a consent in one message": (
        lambda g: g.agent("x", experts=(g.expert("a", "job"), g.expert("b", "consent"))),
        [["job_a0", "consent_b0"]],
    ),
    "a sequence beside an agent, in one message": (
        lambda g: both(
            g.agent("a", "consent"), steps(g.agent("b", "plain"), g.agent("c", "consent"))
        ),
        [["consent_a0", "consent_c0"]],
    ),
    "two sequences side by side, round by round": (
        lambda g: both(
            steps(g.agent("a", "consent"), g.agent("b", "plain"), g.agent("c", "consent")),
            steps(g.agent("d", "consent"), g.agent("e", "consent"), name="others"),
        ),
        [["consent_a0", "consent_d0"], ["consent_c0", "consent_e0"]],
    ),
    "groups in a group, in one message": (
        lambda g: both(
            both(g.agent("a", "consent"), name="left"),
            both(g.agent("b", "plain"), g.agent("c", "consent"), name="right"),
        ),
        [["consent_a0", "consent_c0"]],
    ),
    "an expert of an expert, the near one first": (
        expert_of_an_expert,
        [["consent_a0"], ["job_b0"]],
    ),
    "an expert of an expert, the far one first": (
        expert_of_an_expert,
        [["job_b0"], ["consent_a0"]],
    ),
    "two experts of experts, one by one": (
        lambda g: g.agent(
            "x",
            experts=(
                g.expert("y", experts=(g.expert("a", "consent"),)),
                g.expert("z", experts=(g.expert("b", "consent"),)),
            ),
        ),
        [["consent_a0"], ["consent_b0"]],
    ),
    "an expert that waits beside a call": (
        lambda g: g.agent("x", "plain", experts=(g.expert("a", "login"),)),
        [["login_a0"]],
    ),
    "an expert below a sequence": (
        lambda g: steps(g.agent("x", experts=(g.expert("a", "login"),)), g.agent("b", "plain")),
        [["login_a0"]],
    ),
    "a group as a node, one by one": (
        lambda g: chain(g, both(g.agent("a", "consent"), g.agent("b", "login"))),
        [["consent_a0"], ["login_b0"]],
    ),
    "experts of a node, one by one": (
        lambda g: chain(g, g.agent("x", experts=(g.expert("a", "consent"), g.expert("b", "job")))),
        [["job_b0"], ["consent_a0"]],
    ),
    "a sequence as a node": (
        lambda g: chain(g, steps(g.agent("a", "plain"), g.agent("b", "consent"))),
        [["consent_b0"]],
    ),
    "ways that part, in one message": (
        lambda g: Workflow(
            name="wf",
            edges=[
                (
                    "START",
                    (g.agent("a", "job"), g.agent("b", "consent")),
                    JoinNode(name="join"),
                    g.last,
                )
            ],
        ),
        [["job_a0", "consent_b0"]],
    ),
    "ways that part, of which one asks again": (
        lambda g: Workflow(
            name="wf",
            edges=[
                (
                    "START",
                    (steps(g.agent("a", "consent"), g.agent("b", "consent")), g.agent("c", "job")),
                    JoinNode(name="join"),
                    g.last,
                )
            ],
        ),
        [["consent_a0"], ["job_c0"], ["consent_b0"]],
    ),
    "a group as one of two ways, with the other between its answers": (
        lambda g: Workflow(
            name="wf",
            edges=[
                (
                    "START",
                    (both(g.agent("a", "consent"), g.agent("b", "login")), g.agent("c", "consent")),
                    JoinNode(name="join"),
                    g.last,
                )
            ],
        ),
        [["consent_a0"], ["consent_c0"], ["login_b0"]],
    ),
    "a sequence that a tool runs": (
        lambda g: g.agent("x", runs=steps(g.agent("a", "plain"), g.agent("b", "consent"))),
        [["consent_b0"]],
    ),
    "a sequence in a workflow that is a tool": (
        lambda g: g.agent(
            "x",
            runs=chain(g, steps(g.agent("a", "consent"), g.agent("b", "login"))),
        ),
        [["consent_a0"], ["login_b0"]],
    ),
}
RESUMABLE: dict[str, tuple[Callable[[AgentFactory], Any], list[list[str]]]] = {
    "two consents of a node, one by one": (
        lambda g: chain(g, g.agent("a", "consent", "consent")),
        [["consent_a0"], ["consent_a1"]],
    ),
}
"""Trees that need checkpoints: without them, a model continues at the first of its answers."""


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("name", TREES)
async def test_everything_is_done_once(name, resumable):
    make, plan = TREES[name]
    log = await played(make, plan, resumable=resumable)
    assert log == Counter(dict.fromkeys(await _all(make), 1))


@pytest.mark.parametrize("name", RESUMABLE)
async def test_everything_is_done_once_with_checkpoints(name):
    make, plan = RESUMABLE[name]
    log = await played(make, plan, resumable=True)
    assert log == Counter(dict.fromkeys(await _all(make), 1))


async def test_each_round_of_a_loop_waits_again():
    def make(factory):
        agents = [factory.agent("a", "plain"), factory.agent("b", "consent")]
        return LoopAgent(name="rounds", max_iterations=2, sub_agents=agents)

    for resumable in (True, False):
        log = await played(make, [["consent_b0"], ["consent_b0"]], resumable=resumable)
        assert set(log.values()) == {2}


async def test_a_later_call_of_a_tool_runs_its_node_again():
    """The model books two trips, one after the other; each needs a confirmation."""
    booked: list[str] = []

    def make(factory):
        inner = factory.agent("inner", "consent")

        async def book_trip(tool_context: ToolContext) -> str:
            result = await tool_context.run_node(inner, node_input="go")
            booked.append(result)
            return result

        class Twice(Caller):
            async def generate_content_async(self, llm_request, stream=False):
                if len(booked) < 2:
                    call = types.FunctionCall(name="book_trip", args={})
                    content = types.ModelContent([types.Part(function_call=call)])
                else:
                    content = types.ModelContent("done")
                yield LlmResponse(content=content)

        model = Twice(model="caller", calls=[], log=factory.log, me="root")
        return LlmAgent(name="root", model=model, tools=[book_trip])

    log = await played(make, [["consent_inner0"], ["consent_inner0"]], resumable=True)
    assert log == {"consent_inner0": 2, "inner is done": 2}
    assert booked == ["inner is done"] * 2


async def _all(make: Callable[[AgentFactory], Any]) -> set[str]:
    """Return everything a tree can do: its tools, its agents' last words, and its last node."""
    names: set[str] = set()
    nodes = [make(AgentFactory())]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Workflow):
            names.add("last")
            nodes += node.nodes
        elif isinstance(node, LlmAgent):
            names |= {f"{node.name} is done", *(tool.name for tool in node.tools)}
            nodes += [tool.node for tool in node.tools if hasattr(tool, "node")]
        nodes += getattr(node, "sub_agents", [])
    return names


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("kind", ["consent", "login"])
@pytest.mark.parametrize("within", [both, steps, lambda *agents: agents[0]])
async def test_a_repeated_answer_does_nothing(within, kind, resumable):
    def make(factory):
        return within(factory.agent("a", kind), factory.agent("b", "consent"))

    alone = isinstance(make(AgentFactory()), LlmAgent)
    again = [f"{kind}_a0"] if alone else [f"{kind}_a0", "consent_b0"]
    log = await played(make, [[f"{kind}_a0"], again], resumable=resumable)
    assert log == Counter(dict.fromkeys(await _all(make), 1))


class Payer(BaseLlm):
    """A model that pays for the trip in its message."""

    async def generate_content_async(self, llm_request, stream=False):
        first, *more = llm_request.contents
        call = types.FunctionCall(name="pay", args={"trip": first.parts[0].text})
        part = types.Part(text="paid") if more else types.Part(function_call=call)
        yield LlmResponse(content=types.ModelContent([part]))


def payer(factory: AgentFactory, **fields: Any) -> LlmAgent:
    def pay(trip: str) -> str:
        factory.log[f"paid {trip}"] += 1
        return trip

    tool = FunctionTool(pay, require_confirmation=True)
    model = Payer(model="payer")
    return LlmAgent(name="payer", description="Pays.", model=model, tools=[tool], **fields)


def a_node_that_pays_twice(factory: AgentFactory) -> Workflow:
    agent = payer(factory)

    @node(rerun_on_resume=True)
    async def pays(ctx, node_input):
        runs = [ctx.run_node(agent, node_input=trip) for trip in ("Rome", "Paris")]
        factory.log["/".join(await asyncio.gather(*runs))] += 1

    return Workflow(name="wf", edges=[("START", pays)])


class Booker(BaseLlm):
    """A model that books two trips at once."""

    log: Any

    async def generate_content_async(self, llm_request, stream=False):
        parts = llm_request.contents[-1].parts
        results = [part.function_response.response["result"] for part in parts if not part.text]
        function_calls = [
            types.FunctionCall(name="book", args={"trip": trip}) for trip in ("Rome", "Paris")
        ]
        calls = [types.Part(function_call=call) for call in function_calls]
        if results:
            self.log["/".join(results)] += 1
        yield LlmResponse(content=types.ModelContent(calls if not results else "done"))


def two_calls_of_a_tool_that_pays(factory: AgentFactory) -> LlmAgent:
    return booking(factory, payer(factory))


def two_calls_of_a_tool_that_runs_a_sub_agent(factory: AgentFactory) -> LlmAgent:
    agent = payer(factory, mode="single_turn")
    return booking(factory, agent, sub_agents=[agent])


def booking(factory: AgentFactory, agent: LlmAgent, **fields: Any) -> LlmAgent:
    async def book(trip: str, tool_context: ToolContext) -> str:
        return await tool_context.run_node(agent, node_input=trip)

    return LlmAgent(
        name="root", model=Booker(model="booker", log=factory.log), tools=[book], **fields
    )


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize(
    "make",
    [
        a_node_that_pays_twice,
        two_calls_of_a_tool_that_pays,
        two_calls_of_a_tool_that_runs_a_sub_agent,
    ],
)
@pytest.mark.parametrize(
    "plan", [["pay Rome pay Paris"], ["pay Rome", "pay Paris"], ["pay Paris", "pay Rome"]]
)
async def test_two_concurrent_runs_of_an_agent_each_get_their_own_answer(plan, make, resumable):
    """The user confirms what each of them pays."""
    messages = [re.findall(r"pay \w+", names) for names in plan]
    log = await played(make, messages, resumable=resumable)
    assert log == {"paid Rome": 1, "paid Paris": 1, "paid/paid": 1}


async def test_a_confirmation_counts_only_for_its_own_call():
    play = Play(two_calls_of_a_tool_that_pays, resumable=False)
    await play.begin()
    await play.answer("pay Paris")
    assert play.factory.log == {"paid Paris": 1}


async def test_an_agent_run_again_by_a_tool_does_not_see_its_earlier_run():
    """A later call of the tool runs the agent for another request."""
    prompts: list[list[str]] = []

    class Listener(BaseLlm):
        async def generate_content_async(self, llm_request, stream=False):
            prompts.append([part.text for each in llm_request.contents for part in each.parts])
            yield LlmResponse(content=types.ModelContent("heard"))

    def make(factory):
        agent = LlmAgent(name="listener", model=Listener(model="listener"))

        async def tell(tool_context: ToolContext) -> str:
            return await tool_context.run_node(agent, node_input=f"trip {len(prompts)}")

        class Twice(BaseLlm):
            async def generate_content_async(self, llm_request, stream=False):
                call = types.Part(function_call=types.FunctionCall(name="tell", args={}))
                content = types.ModelContent([call] if len(prompts) < 2 else "done")
                yield LlmResponse(content=content)

        return LlmAgent(name="root", model=Twice(model="twice"), tools=[tell])

    await played(make, [], resumable=False)
    assert prompts == [["trip 0"], ["trip 1"]]


async def test_an_answer_that_was_not_understood_can_be_corrected():
    """The corrected answer is not a repetition, since the first one had no effect."""
    play = Play(lambda factory: factory.agent("a", "consent"), resumable=False)
    await play.begin()
    call = play.asked["consent_a0"]
    for response in ({"what": 1}, {"confirmed": True}):
        function_response = types.FunctionResponse(id=call.id, name=call.name, response=response)
        with suppress(ValueError):
            await play.say(types.UserContent([types.Part(function_response=function_response)]))
    assert play.factory.log == {"consent_a0": 1, "a is done": 1}


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
async def test_a_repeated_answer_completes_an_interrupted_invocation(resumable):
    """Only with checkpoints: after a crash, a client may send its message again."""
    failures = [True]

    def make(factory):
        def work() -> str:
            if failures:
                raise RuntimeError(failures.pop())
            factory.log["work"] += 1
            return "done"

        model = Caller(model="caller", calls=["work_b"], log=factory.log, me="b")
        work.__name__ = "work_b"
        return steps(
            factory.agent("a", "consent"),
            LlmAgent(name="b", model=model, tools=[FunctionTool(work)]),
        )

    play = Play(make, resumable=resumable)
    await play.begin()
    with pytest.raises(RuntimeError):
        await play.answer("consent_a0")
    await play.repeat()
    await play.repeat()
    first_log = {"consent_a0": 1, "a is done": 1}
    assert play.factory.log == (first_log | {"work": 1, "b is done": 1} if resumable else first_log)
