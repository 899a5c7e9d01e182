"""Which node of a workflow an event is from (adk-runtime 12.4)."""

from devui.wire.events import Event, fields_in

_ENDED = "__adk_internal_node_ended"


def node_of(event: Event) -> str:
    """The path of the node, if the event is signed by a workflow around it; else ''.

    What an agent signs itself needs no other name.
    """
    path = event.node_path
    names = [segment.rpartition("@")[0] or segment for segment in path.split("/")]
    return path if event.author in names[:-1] else ""


def name_of(path: str) -> str:
    """The name of the node at a path, with its run if that is not the first: `pay`, `pay@2`."""
    return path.rpartition("/")[2].removesuffix("@1")


def says_end(event: Event) -> bool:
    """Whether the event tells that a node has ended, without output and route."""
    return event.metadata.get(_ENDED) is True


def answers(event: Event) -> bool:
    """Whether the event's output is that of the whole app: its root's, for nobody else."""
    whose = fields_in(event.fields.get("nodeInfo")).get("outputFor")
    output = event.output is not None
    return output and isinstance(whose, list) and "/" not in str(whose[-1] if whose else "/")
