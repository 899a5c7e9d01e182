"""What can go wrong with a graph of nodes (adk-runtime 12.9)."""


class GraphValidationError(ValueError):
    """The edges of a workflow make no graph that can be run."""


class WorkflowConfigurationError(ValueError):
    """A workflow, a node or an edge is declared in a way that cannot work."""


class WorkflowDataError(ValueError):
    """What came to a node in this run does not fit it; the graph itself is fine."""


class NodeTimeoutError(Exception):
    """A node took longer than its `timeout`; it may be retried like any other failure."""

    def __init__(self, *, node_name: str, timeout: float) -> None:
        """Tell which node it was, and the seconds that it had."""
        self.node_name = node_name
        self.timeout = timeout
        super().__init__(
            f"Node {node_name!r} did not end within {timeout:g} s; raise its `timeout`,"
            " or let it do less."
        )


class DynamicNodeFailError(Exception):
    """A node started by `ctx.run_node()` failed."""

    def __init__(self, *, message: str, error: Exception, error_node_path: str) -> None:
        """Tell what the node raised, and where in the graph."""
        self.error = error
        self.error_node_path = error_node_path
        super().__init__(message)


class NodeInterruptedError(BaseException):
    """A node started by `ctx.run_node()` waits for an answer, and so its caller has to.

    No `Exception`, so that the code of a node does not catch it by accident.
    """
