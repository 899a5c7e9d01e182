"""The errors of graphs and their nodes (adk-runtime 12.9)."""


class GraphValidationError(ValueError):
    """The edges of a workflow don't form a graph that can be run."""


class WorkflowConfigurationError(ValueError):
    """A workflow, a node or an edge is declared in a way that cannot work."""


class WorkflowDataError(ValueError):
    """The data given to a node in this run doesn't fit; the graph itself is fine."""


class NodeTimeoutError(Exception):
    """A node exceeded its `timeout`; it may be retried like any other failure."""

    def __init__(self, *, node_name: str, timeout: float) -> None:
        """`timeout` is in seconds."""
        self.node_name = node_name
        self.timeout = timeout
        super().__init__(
            f"Node {node_name!r} did not finish within {timeout:g} s; raise its `timeout`,"
            " or make it do less."
        )


class DynamicNodeFailError(Exception):
    """A node started by `ctx.run_node()` failed."""

    def __init__(self, *, message: str, error: Exception, error_node_path: str) -> None:
        """`error` is what the node raised, and `error_node_path` the path of its run."""
        self.error = error
        self.error_node_path = error_node_path
        super().__init__(message)


class NodeInterruptedError(BaseException):
    """A node started by `ctx.run_node()` waits for an answer, so its caller has to wait, too.

    Not an `Exception`, so that the code of a node doesn't catch it by accident.
    """
