"""Finds the workflow node that an event is from (adk-runtime 12.4)."""

from devui.wire.events import Event, fields_in

_ENDED = "__adk_internal_node_ended"


def node_of(event: Event) -> str:
    """Return the path of the node if the event's author is a workflow around it; else "".

    An event whose author is the node's own agent needs no other name.
    """
    path = event.node_path
    names = [segment.rpartition("@")[0] or segment for segment in path.split("/")]
    return path if event.author in names[:-1] else ""


def name_of(path: str) -> str:
    """Return the name of the node at a path, with its run after the first: `pay`, `pay@2`."""
    return path.rpartition("/")[2].removesuffix("@1")


def says_end(event: Event) -> bool:
    """Whether the event marks the end of a node without output or route."""
    return event.metadata.get(_ENDED) is True


def answers(event: Event) -> bool:
    """Whether the event has the output of the whole app, that is, of its root node."""
    whose = fields_in(event.fields.get("nodeInfo")).get("outputFor")
    output = event.output is not None
    return output and isinstance(whose, list) and "/" not in str(whose[-1] if whose else "/")
