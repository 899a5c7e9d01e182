"""`NodeStatus`: how a node of a workflow is doing (adk-runtime 12.4)."""

from enum import IntEnum


class NodeStatus(IntEnum):
    """The numbers stand in the checkpoints of resumable apps."""

    INACTIVE = 0
    PENDING = 1
    RUNNING = 2
    COMPLETED = 3
    WAITING = 4
    FAILED = 5
    CANCELLED = 6
