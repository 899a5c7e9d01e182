"""Whatever stands around whatever, and whatever it waits for: all is done once, and ends.

Each tree has two things of a kind in a thing of another kind, and each of them asks the user.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from devui.runtime.agents import BaseAgent, LlmAgent
from devui.runtime.tools import AgentTool
from devui.runtime.workflow import JoinNode, Workflow
from tests.kit.grove import Grove, Play, both, rounds, steps

QUESTIONS = ("input", "consent", "job", "login")


@dataclass
class Wood:
    """One tree: how it is made, and what it has to do."""

    grove: Grove
    kind: str
    """What is asked for."""
    due: Counter[str] = field(default_factory=Counter)
    _rounds: int = 1
    _made: int = 0

    def leaf(self, mode: str | None, place: str) -> Any:
        """Something that asks: a node where that can stand, or else an agent with a tool."""
        name = self._name("a")
        if self.kind == "input":
            asks = f"ask_{name}"
            self._expect(asks)
            question = self.grove.question(asks)
            return question if place == "node" else self.agent(name, runs=question, mode=mode)
        return self.agent(name, self.kind, mode=mode)

    def plain(self) -> LlmAgent:
        return self.agent(self._name("p"), "plain")

    def agent(self, name: str, *kinds: str, **fields: Any) -> LlmAgent:
        mode = fields.pop("mode", None)
        agent = self.grove.agent(name, *kinds, **fields, **({"mode": mode} if mode else {}))
        self._expect(f"{name} is done")
        for tool in agent.tools:
            if str(tool.name).partition("_")[0] in {"plain", "run", *QUESTIONS}:
                self._expect(tool.name)
        return agent

    @contextmanager
    def again(self, times: int):
        """What is made here is done that many times."""
        before, self._rounds = self._rounds, self._rounds * times
        yield
        self._rounds = before

    def _name(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"

    def _expect(self, what: str) -> None:
        self.due[what] += self._rounds


Below = Callable[[str | None, str], Any]
"""Makes what stands below: with that mode, if it is an agent with a model, for that place."""


def as_agent(wood: Wood, below: Below, mode: str | None = None) -> Any:
    made = below(mode, "agent")
    if isinstance(made, LlmAgent) or (mode is None and isinstance(made, BaseAgent)):
        return made
    return wood.agent(wood._name("w"), runs=made, mode=mode)


def in_sequence(wood, mode, place, *below):
    return steps(*(as_agent(wood, each) for each in below), name=wood._name("s"))


def in_parallel(wood, mode, place, *below):
    return both(*(as_agent(wood, each) for each in below), name=wood._name("b"))


def in_loop(wood, mode, place, *below):
    with wood.again(2):
        return rounds(*(as_agent(wood, each) for each in below), name=wood._name("r"))


def in_graph(wood, mode, place, *below):
    name = wood._name("g")
    nodes = tuple(each(None, "node") for each in below)

    def last(node_input: Any) -> str:
        wood.grove.log[f"last of {name}"] += 1
        return "last"

    wood._expect(f"last of {name}")
    nodes = (nodes, JoinNode(name="join")) if len(nodes) > 1 else nodes
    return Workflow(name=name, edges=[("START", *nodes, last)], input_schema=str)


def with_experts(wood, mode, place, *below):
    experts = [as_agent(wood, each, "single_turn") for each in below]
    return wood.agent(wood._name("x"), experts=experts, mode=mode)


def with_tasks(wood, mode, place, *below):
    if place == "node":
        return as_agent(wood, below[0], "task")
    experts = [as_agent(wood, each, "task") for each in below]
    return wood.agent(wood._name("t"), experts=experts, mode=mode)


def with_agent_tools(wood, mode, place, *below):
    with wood.again(0):  # what is in there cannot ask the user, which its caller is told
        tools = [AgentTool(as_agent(wood, each)) for each in below]
    return wood.agent(wood._name("o"), tools=tools, mode=mode)


def with_nodes(wood, mode, place, *below):
    name = wood._name("n")
    tools = [
        wood.grove.runner(f"run_{name}{i}", each(None, "node")) for i, each in enumerate(below)
    ]
    return wood.agent(name, tools=tools, mode=mode)


KINDS = {
    "sequence": in_sequence,
    "parallel": in_parallel,
    "loop": in_loop,
    "graph": in_graph,
    "experts": with_experts,
    "tasks": with_tasks,
    "run_node": with_nodes,
    "AgentTool": with_agent_tools,
}


def make_tree(outer: str, inner: str, kind: str, due: Counter[str]):
    def make(grove: Grove) -> Any:
        wood = Wood(grove, kind)

        def below(mode, place):
            leaves = [wood.leaf]
            if inner in {"sequence", "parallel", "loop"}:
                leaves.insert(0, lambda mode, place: wood.plain())
            return KINDS[inner](wood, mode, place, *leaves)

        root = KINDS[outer](wood, None, "agent", below, below)
        due.clear()
        due.update(wood.due)
        return root

    return make


async def play(outer, inner, kind, how, resumable):
    due: Counter[str] = Counter()
    play = Play(make_tree(outer, inner, kind, due), resumable=resumable)
    await play.begin()
    for _ in range(20):
        if not play.open:
            break
        names = sorted(play.open)
        names = names if how == "together" else names[:1]
        await play.answer(*names)
        if how == "repeated":
            await play.repeat()
    assert not play.open, "it asks for ever"
    ignored = due.keys() - (+due).keys()
    done = Counter({what: times for what, times in play.grove.log.items() if what not in ignored})
    assert done == +due


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "not resumable"])
@pytest.mark.parametrize("how", ["one by one", "together", "repeated"])
@pytest.mark.parametrize("inner", KINDS)
@pytest.mark.parametrize("outer", KINDS)
@pytest.mark.parametrize("kind", QUESTIONS)
async def test_all_is_done_once(outer, inner, kind, how, resumable):
    if (outer, inner) == ("experts", "tasks"):
        pytest.skip("an expert has no tasks to give")
    if kind == "job" and how == "repeated":
        pytest.skip("what is said of a job may change")
    await play(outer, inner, kind, how, resumable)
