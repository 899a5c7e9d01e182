"""One message that answers the questions of parallel agents (resume seed)."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool
from devui.runtime.workflow import JoinNode, Workflow
from tests.kit.conversation import response_part, resumable, said

CONFIRM = "adk_request_confirmation"
NAMES = ("one", "two")


class Office:
    """Agents that each need something from the user, and the names of those whose tool ran."""

    def __init__(self, needs: str) -> None:
        self.needs = needs
        self.done: list[str] = []

    @property
    def question(self) -> str:
        return CONFIRM if self.needs == "consent" else "ask"

    def answers(self, events):
        calls = [call for event in events for call in event.get_function_calls()]
        response = {"confirmed": True} if self.needs == "consent" else {"result": "yes"}
        return [response_part(c.name, c.id, **response) for c in calls if c.name == self.question]

    def agent(self, name, **fields):
        async def ask() -> str | None:
            """Ask."""
            self.done.append(name)
            return "yes" if self.needs == "consent" else None

        if self.needs == "consent":
            tool = FunctionTool(ask, require_confirmation=True)
        else:
            tool = LongRunningFunctionTool(ask)
        rules = [Rule(after="ask", then=Say(f"{name} got {{result}}")), Rule(then=Call("ask"))]
        return LlmAgent(name=name, model=ScriptedLlm(rules=rules), tools=[tool], **fields)

    def parallel(self):
        return ParallelAgent(name="both", sub_agents=[self.agent(name) for name in NAMES])

    def experts(self):
        fields = {"mode": "single_turn", "description": "Knows."}
        rules = [
            Rule(after="two", then=Say("Done.")),
            Rule(then=[Call("one", request="?"), Call("two", request="?")]),
        ]
        experts = [self.agent(name, **fields) for name in NAMES]
        return LlmAgent(name="chief", model=ScriptedLlm(rules=rules), sub_agents=experts)

    def ways(self):
        agents = tuple(self.agent(name) for name in NAMES)
        return Workflow(name="wf", edges=[("START", agents, JoinNode(name="join"))])


@pytest.mark.parametrize("yes", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("needs", ["consent", "a result"])
@pytest.mark.parametrize("make", [Office.parallel, Office.experts, Office.ways])
@pytest.mark.parametrize("order", [1, -1], ids=["in order", "the other way round"])
async def test_each_agent_gets_its_answer_and_no_tool_runs_twice(make, needs, yes, order):
    office = Office(needs)
    conversation = resumable(make(office), yes=yes)
    replies = office.answers(await conversation.say("go"))
    assert len(replies) == 2

    events = await conversation.say(types.UserContent(replies[::order]))

    texts = {said(event) for event in events if event.author in NAMES}
    assert {"one got yes", "two got yes"} <= texts
    assert sorted(office.done) == ["one", "two"]


@pytest.mark.parametrize("needs", ["consent", "a result"])
async def test_an_answer_to_one_agent_does_not_reach_the_other(needs):
    office = Office(needs)
    conversation = resumable(office.parallel(), yes=True)
    first, second = office.answers(await conversation.say("go"))

    events = await conversation.say(types.UserContent([first]))
    assert "two" not in {event.author for event in events}
    await conversation.say(types.UserContent([second]))

    assert sorted(office.done) == ["one", "two"]


@pytest.mark.parametrize("yes", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("kind", [SequentialAgent, LoopAgent, ParallelAgent])
@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize("deep", [False, True])
async def test_agents_of_a_workflow_agent_in_a_graph_get_their_answers(kind, first, yes, deep):
    office = Office("consent")
    rules = [Rule(then=Say("Here."))]
    other = LlmAgent(name="other", model=ScriptedLlm(rules=rules))
    agents = [office.agent("one"), other]
    rounds = {"max_iterations": 1} if kind is LoopAgent else {}
    steps = kind(name="steps", sub_agents=agents if first else agents[::-1], **rounds)
    wf = Workflow(name="wf", edges=[("START", steps)])
    conversation = resumable(Workflow(name="all", edges=[("START", wf)]) if deep else wf, yes=yes)
    replies = office.answers(await conversation.say("go"))

    await conversation.say(types.UserContent(replies))

    texts = [said(event) for event in conversation.heard if said(event)]
    assert sorted(texts) == ["Here.", "one got yes"]
    assert office.done == ["one"]
