"""What an app is made of, as a worker reads it from the loaded objects: nodes and edges."""

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
    """The position in the list of what it belongs to: of a tool its agent, of the agent in an
    AgentTool the tool."""
    type: str = ""
    """The class name, such as `LlmAgent`."""
    place: str = ""
    """`travel/tools.py:12`, where it is written; "" if that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureEdge:
    """A way from one node of a workflow to another, by their positions."""

    source: int
    target: int
    route: str = ""
