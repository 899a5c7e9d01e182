"""The parts of an app's graph."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.panels.graph.activity import Status
from devui.web.panels.graph.layout import Box


@dataclass(frozen=True, slots=True)
class NodeMenu:
    """The menu of a node."""

    name: str
    filter: str = ""
    """The filter that finds its events."""
    filter_href: str = ""
    """The link to the node's events; "" without a session."""
    breakpoint: str = ""
    """The draft of a breakpoint as JSON; "" if there is no session."""
    place: str = ""
    """The location of its code, `travel/tools.py:12`; "" if unknown."""
    about: str = ""
    """The node's class or kind."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box with its text."""

    template: ClassVar[str] = "graph/node.html"
    dom_id: str
    box: Box
    shape: str
    """`frame`, `card`, `tool`, `start` or `node`."""
    kind: str
    icon: str
    name: str
    """The name, shortened to fit."""
    detail: str
    """The kind, how often it ran, and for how long, such as `loop · 1.4 s`."""
    status: Status
    mark: str
    """The icon of the status; "" for a node that hasn't run."""
    title: str
    """All details in words."""
    menu: NodeMenu | None
    """The node's menu; None in an exported file."""


@dataclass(frozen=True, slots=True)
class GraphLine:
    path: str
    label: str
    """The route, and how often a back edge was taken."""
    x: float
    y: float
    is_taken: bool
    back: bool
    title: str


@dataclass(frozen=True, slots=True)
class GraphPanel:
    """The graph as of a moment. Its element is `#graph`."""

    template: ClassVar[str] = "graph/graph_panel.html"
    event: int | None
    """The event as of which the graph is shown; None for now."""
    title: str
    note: str
    """What the graph leaves out."""
    width: float
    height: float
    nodes: tuple[GraphNode, ...]
    lines: tuple[GraphLine, ...]
    break_action: str
    """Where to POST breakpoints; "" in an exported file and on the app's own page."""
