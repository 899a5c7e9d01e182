"""The structure of an app, as a worker reads it from the loaded objects: nodes and edges."""

from dataclasses import dataclass
from typing import Literal

NodeKind = Literal[
    "agent",
    "sequential",
    "parallel",
    "loop",
    "workflow",
    "tool",
    "agent_tool",
    "function",
    "join",
    "start",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureNode:
    """An agent, a tool, or a node of a workflow."""

    name: str
    kind: NodeKind
    parent: int | None = None
    """The index in the list of what it belongs to: a tool's agent, or the AgentTool of an agent."""
    type: str = ""
    """The class name, such as `LlmAgent`."""
    place: str = ""
    """Where it is defined, such as `travel/tools.py:12`; "" if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureEdge:
    """An edge from one workflow node to another, given by their positions."""

    source: int
    target: int
    route: str = ""
