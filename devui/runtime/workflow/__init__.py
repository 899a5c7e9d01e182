"""Graphs of nodes (adk-runtime 12). Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.workflow.base_node import START, BaseNode
    from devui.runtime.workflow.errors import NodeTimeoutError
    from devui.runtime.workflow.function_node import FunctionNode
    from devui.runtime.workflow.graph import DEFAULT_ROUTE, Edge
    from devui.runtime.workflow.own_nodes import Node, node
    from devui.runtime.workflow.parallel_worker import JoinNode
    from devui.runtime.workflow.retry_config import RetryConfig
    from devui.runtime.workflow.workflow import Workflow

__all__ = [
    "DEFAULT_ROUTE",
    "START",
    "BaseNode",
    "Edge",
    "FunctionNode",
    "JoinNode",
    "Node",
    "NodeTimeoutError",
    "RetryConfig",
    "Workflow",
    "node",
]

__getattr__ = lazy(
    __name__,
    {
        "DEFAULT_ROUTE": "graph",
        "START": "base_node",
        "BaseNode": "base_node",
        "Edge": "graph",
        "FunctionNode": "function_node",
        "JoinNode": "parallel_worker",
        "Node": "own_nodes",
        "NodeTimeoutError": "errors",
        "RetryConfig": "retry_config",
        "Workflow": "workflow",
        "node": "own_nodes",
    },
)
