"""Which node of a workflow an event is from (adk-runtime 12.4)."""

from collections.abc import Mapping
from typing import Any

_ENDED = "__adk_internal_node_ended"


def node_of(event: Mapping[str, Any]) -> str:
    """The path of the node, if the event is signed by a workflow around it; else ''.

    What an agent signs itself needs no other name.
    """
    path = _path(event)
    names = [segment.rpartition("@")[0] or segment for segment in path.split("/")]
    return path if event.get("author") in names[:-1] else ""


def name_of(path: str) -> str:
    """The name of the node at a path, with its run if that is not the first: `pay`, `pay@2`."""
    return path.rpartition("/")[2].removesuffix("@1")


def says_end(event: Mapping[str, Any]) -> bool:
    """Whether the event tells that a node has ended, without output and route."""
    metadata = event.get("customMetadata")
    return isinstance(metadata, Mapping) and metadata.get(_ENDED) is True


def answers(event: Mapping[str, Any]) -> bool:
    """Whether the event's output is that of the whole app: its root's, for nobody else."""
    whose = _info(event).get("outputFor")
    output = event.get("output") is not None
    return output and isinstance(whose, list) and "/" not in str(whose[-1] if whose else "/")


def _path(event: Mapping[str, Any]) -> str:
    return str(_info(event).get("path") or "")


def _info(event: Mapping[str, Any]) -> Mapping[str, Any]:
    info = event.get("nodeInfo")
    return info if isinstance(info, Mapping) else {}
