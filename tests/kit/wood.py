"""Trees in which things of one kind stand in a thing of another, and each asks the user."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from devui.runtime.agents import BaseAgent, LlmAgent
from devui.runtime.tools import AgentTool
from devui.runtime.workflow import JoinNode, Workflow
from tests.kit.grove import Grove, both, rounds, steps

QUESTIONS = ("input", "consent", "job", "login")
"""What is asked for."""

Below = Callable[[str | None, bool], Any]
"""Makes what stands below: with that mode, if it is an agent with a model; whether for a node."""


@dataclass
class Wood:
    """One tree: how it is made, and what it has to do."""

    grove: Grove
    kind: str
    """What is asked for."""
    due: Counter[str] = field(default_factory=Counter)
    """How often each thing is to be done; 0 for what may be done or not."""
    _times: int = 1
    _made: int = 0

    def leaf(self, mode: str | None, is_node: bool) -> Any:
        """Something that asks: a node where that can stand, or else an agent with a tool.

        An agent whose answer others take asks twice, for it has to wait for both answers.
        """
        name = self.name("a")
        if self.kind != "input":
            kinds = [self.kind] * (2 if mode or is_node else 1)
            return self.agent(name, *kinds, mode=mode)
        self.expect(f"ask_{name}")
        question = self.grove.question(f"ask_{name}")
        return question if is_node else self.agent(name, runs=question, mode=mode)

    def plain(self, mode: str | None, is_node: bool) -> LlmAgent:
        """An agent that asks nobody."""
        return self.agent(self.name("p"), "plain")

    def agent(self, name: str, *kinds: str, mode: str | None = None, **fields: Any) -> LlmAgent:
        """An agent that does all that it can."""
        agent = self.grove.agent(name, *kinds, **fields, **({"mode": mode} if mode else {}))
        self.expect(f"{name} is done")
        for tool in agent.tools:
            if tool.name.partition("_")[0] in {"plain", "run", *QUESTIONS}:
                self.expect(tool.name)
        return agent

    def as_agent(self, below: Below, mode: str | None = None) -> Any:
        """What stands below as an agent, or in one that runs it."""
        made = below(mode, False)
        if isinstance(made, LlmAgent) or (mode is None and isinstance(made, BaseAgent)):
            return made
        return self.agent(self.name("w"), runs=made, mode=mode)

    @contextmanager
    def again(self, times: int) -> Iterator[None]:
        """What is made here is done that many times."""
        before, self._times = self._times, self._times * times
        yield
        self._times = before

    def name(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"

    def expect(self, what: str) -> None:
        self.due[what] += self._times


def _in_sequence(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    return steps(*(wood.as_agent(each) for each in below), name=wood.name("s"))


def _in_parallel(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    return both(*(wood.as_agent(each) for each in below), name=wood.name("b"))


def _in_loop(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    with wood.again(2):
        return rounds(*(wood.as_agent(each) for each in below), name=wood.name("r"))


def _in_graph(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    name = wood.name("g")
    nodes = tuple(each(None, True) for each in below)

    def last(node_input: Any) -> str:
        wood.grove.log[f"last of {name}"] += 1
        return "last"

    wood.expect(f"last of {name}")
    joined = (nodes, JoinNode(name="join")) if len(nodes) > 1 else nodes
    return Workflow(name=name, edges=[("START", *joined, last)], input_schema=str)


def _with_experts(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    experts = [wood.as_agent(each, "single_turn") for each in below]
    return wood.agent(wood.name("x"), experts=experts, mode=mode)


def _with_tasks(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    if is_node:
        return wood.as_agent(below[0], "task")
    experts = [wood.as_agent(each, "task") for each in below]
    return wood.agent(wood.name("t"), experts=experts, mode=mode)


def _with_nodes(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    name = wood.name("n")
    names = (f"run_{name}{number}" for number in range(len(below)))
    tools = [
        wood.grove.runner(each, make(None, True)) for each, make in zip(names, below, strict=True)
    ]
    return wood.agent(name, tools=tools, mode=mode)


def _with_agent_tools(wood: Wood, mode: str | None, is_node: bool, *below: Below) -> Any:
    with wood.again(0):  # what is in there cannot ask the user, which its caller is told
        tools = [AgentTool(wood.as_agent(each)) for each in below]
    return wood.agent(wood.name("o"), tools=tools, mode=mode)


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


def tree(outer: str, inner: str, kind: str, due: Counter[str]) -> Callable[[Grove], Any]:
    """Makes two of the inner kind in the outer kind; `due` gets what they have to do."""

    def make(grove: Grove) -> Any:
        wood = Wood(grove, kind)

        def below(mode: str | None, is_node: bool) -> Any:
            first = [wood.plain] if inner in {"sequence", "parallel", "loop"} else []
            return KINDS[inner](wood, mode, is_node, *first, wood.leaf)

        root = KINDS[outer](wood, None, False, below, below)
        due.clear()
        due.update(wood.due)
        return root

    return make
