"""Trees with things of one kind inside a thing of another, each of which asks the user."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from devui.runtime.agents import BaseAgent, LlmAgent
from devui.runtime.tools import AgentTool
from devui.runtime.workflow import JoinNode, Workflow
from tests.kit.waiting_agents import AgentFactory, both, rounds, steps

QUESTIONS = ("input", "consent", "job", "login")
"""The kinds of questions."""

Below = Callable[[str | None, bool], Any]
"""Makes a subtree, given the mode of its model agent, if any, and whether it must be a node."""


@dataclass
class NestedAgents:
    """One tree: how it is made, and what it must do."""

    factory: AgentFactory
    kind: str
    """The kind of question that is asked."""
    due: Counter[str] = field(default_factory=Counter)
    """How often each thing must be done; 0 if it may be done or not."""
    _times: int = 1
    _made: int = 0

    def leaf(self, mode: str | None, is_node: bool) -> Any:
        """Return something that asks: a node where that is possible, or else an agent with a tool.

        An agent whose answer others use asks twice, because it must wait for both answers.
        """
        name = self.name("a")
        if self.kind != "input":
            kinds = [self.kind] * (2 if mode or is_node else 1)
            return self.agent(name, *kinds, mode=mode)
        self.expect(f"ask_{name}")
        question = self.factory.question(f"ask_{name}")
        return question if is_node else self.agent(name, runs=question, mode=mode)

    def plain(self, mode: str | None, is_node: bool) -> LlmAgent:
        """Return an agent that asks nothing."""
        return self.agent(self.name("p"), "plain")

    def agent(self, name: str, *kinds: str, mode: str | None = None, **fields: Any) -> LlmAgent:
        """Return an agent that is expected to do everything it can."""
        agent = self.factory.agent(name, *kinds, **fields, **({"mode": mode} if mode else {}))
        self.expect(f"{name} is done")
        for tool in agent.tools:
            if tool.name.partition("_")[0] in {"plain", "run", *QUESTIONS}:
                self.expect(tool.name)
        return agent

    def as_agent(self, below: Below, mode: str | None = None) -> Any:
        """Return what is below as an agent, or an agent that runs it."""
        inner = below(mode, False)
        if isinstance(inner, LlmAgent) or (mode is None and isinstance(inner, BaseAgent)):
            return inner
        return self.agent(self.name("w"), runs=inner, mode=mode)

    @contextmanager
    def again(self, times: int) -> Iterator[None]:
        """Expect what is made in the block to be done that many times."""
        before, self._times = self._times, self._times * times
        yield
        self._times = before

    def name(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"

    def expect(self, what: str) -> None:
        self.due[what] += self._times


def _in_sequence(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    return steps(*(nested.as_agent(each) for each in below), name=nested.name("s"))


def _in_parallel(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    return both(*(nested.as_agent(each) for each in below), name=nested.name("b"))


def _in_loop(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    with nested.again(2):
        return rounds(*(nested.as_agent(each) for each in below), name=nested.name("r"))


def _in_graph(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    name = nested.name("g")
    nodes = tuple(each(None, True) for each in below)

    def last(node_input: Any) -> str:
        nested.factory.log[f"last of {name}"] += 1
        return "last"

    nested.expect(f"last of {name}")
    middle = (nodes, JoinNode(name="join")) if len(nodes) > 1 else nodes
    return Workflow(name=name, edges=[("START", *middle, last)], input_schema=str)


def _with_experts(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    experts = [nested.as_agent(each, "single_turn") for each in below]
    return nested.agent(nested.name("x"), experts=experts, mode=mode)


def _with_tasks(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    if is_node:
        return nested.as_agent(below[0], "task")
    experts = [nested.as_agent(each, "task") for each in below]
    return nested.agent(nested.name("t"), experts=experts, mode=mode)


def _with_nodes(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    name = nested.name("n")
    names = (f"run_{name}{number}" for number in range(len(below)))
    tools = [
        nested.factory.runner(each, make(None, True))
        for each, make in zip(names, below, strict=True)
    ]
    return nested.agent(name, tools=tools, mode=mode)


def _with_agent_tools(nested: NestedAgents, mode: str | None, is_node: bool, *below: Below) -> Any:
    with nested.again(0):  # agents in there can't ask the user, and their caller is told so
        tools = [AgentTool(nested.as_agent(each)) for each in below]
    return nested.agent(nested.name("o"), tools=tools, mode=mode)


KINDS: dict[str, Callable[..., Any]] = {
    "sequence": _in_sequence,
    "parallel": _in_parallel,
    "loop": _in_loop,
    "graph": _in_graph,
    "experts": _with_experts,
    "tasks": _with_tasks,
    "run_node": _with_nodes,
    "AgentTool": _with_agent_tools,
}


def tree(outer: str, inner: str, kind: str, due: Counter[str]) -> Callable[[AgentFactory], Any]:
    """Return a factory of a tree with two inner kinds in an outer kind; it fills `due`."""

    def make(factory: AgentFactory) -> Any:
        nested = NestedAgents(factory, kind)

        def below(mode: str | None, is_node: bool) -> Any:
            first = [nested.plain] if inner in {"sequence", "parallel", "loop"} else []
            return KINDS[inner](nested, mode, is_node, *first, nested.leaf)

        root = KINDS[outer](nested, None, False, below, below)
        due.clear()
        due.update(nested.due)
        return root

    return make
