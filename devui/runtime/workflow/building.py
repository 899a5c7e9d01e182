"""From what authors write into a graph to its nodes (adk-runtime 12.2, 12.8)."""

from __future__ import annotations

from typing import Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.mistakes import given
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.node_tool import NodeTool
from devui.runtime.workflow.base_node import START, BaseNode
from devui.runtime.workflow.errors import WorkflowConfigurationError
from devui.runtime.workflow.function_node import FunctionNode
from devui.runtime.workflow.parallel_worker import ParallelWorker
from devui.runtime.workflow.tool_node import ToolNode


def as_node(node_like: Any, **fields: Any) -> BaseNode:
    """A node: one as it is, a tool or a function wrapped, an agent prepared for a graph.

    Args:
        node_like: What is to be a node; the text "START" is START.
        fields: Fields of the node that are to be set; None leaves them as they are.

    Raises:
        WorkflowConfigurationError: it can be no node.
    """
    settings = {name: value for name, value in fields.items() if value is not None}
    if isinstance(node_like, str) and node_like == "START":
        return START
    if isinstance(node_like, LlmAgent):
        return _agent(node_like, settings)
    if settings.get("require_confirmation") or settings.get("auth_config"):
        settings.setdefault("rerun_on_resume", True)
    if isinstance(node_like, NodeTool):
        named = {"name": node_like.name} if node_like.name != node_like.node.name else {}
        return as_node(node_like.node, **{**named, **settings})
    if isinstance(node_like, FunctionNode):
        return node_like.model_copy(update=settings) if settings else node_like
    if isinstance(node_like, BaseNode | BaseTool):
        return _made(node_like, settings)
    if callable(node_like):
        return FunctionNode(func=node_like, **settings)
    raise WorkflowConfigurationError(
        f"{given(node_like)} can be no node: give a function, an agent, a tool or a node, or a"
        " tuple of those, which are then run side by side."
    )


def _made(node_like: BaseNode | BaseTool, given: dict[str, Any]) -> BaseNode:
    """The node of something that decides for itself what it asks for."""
    _refuse_consent(node_like, given)
    for name in ("parameter_binding", "auth_config"):
        given.pop(name, None)
    if isinstance(node_like, BaseTool):
        return ToolNode(tool=node_like, **{"name": node_like.name, **given})
    if isinstance(node_like, BaseAgent):
        given.setdefault("rerun_on_resume", True)  # what an answer is for is below it
    return node_like.model_copy(update=given) if given else node_like


def _refuse_consent(node_like: Any, given: dict[str, Any]) -> None:
    if given.pop("require_confirmation", None):
        raise WorkflowConfigurationError(
            f"require_confirmation is for functions; {node_like.name!r} is a"
            f" {type(node_like).__name__}. Put a function before it that asks."
        )


class Nodes:
    """The nodes of one graph: the same thing always gives the same node."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, BaseNode]] = {}

    def of(self, node_like: Any) -> BaseNode:
        """The node for what stands in an edge."""
        if id(node_like) not in self._made:
            # What was given is kept, too: else its id could be given to another object.
            self._made[id(node_like)] = (node_like, as_node(node_like))
        return self._made[id(node_like)][1]


def _agent(agent: LlmAgent, given: dict[str, Any]) -> BaseNode:
    """A copy of the agent for one graph; alone it answers once, below an agent it talks.

    One that is a parallel worker is one for each item of its input.
    """
    parent = agent.parent_agent
    mode = agent.mode or ("single_turn" if parent is None else "chat")
    update = {"rerun_on_resume": True, **given, "mode": mode, "parallel_worker": None}
    if mode == "single_turn" and "include_contents" not in agent.model_fields_set:
        update["include_contents"] = "none"
    if mode in {"chat", "task"}:
        update["wait_for_output"] = True
    copied = agent.clone(update)
    copied.parent_agent = parent
    return ParallelWorker(worker=copied) if agent.parallel_worker else copied
