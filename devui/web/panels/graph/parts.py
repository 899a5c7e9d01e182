"""The graph of an app: the models of its parts."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.panels.graph.activity import Status
from devui.web.panels.graph.layout import Box


@dataclass(frozen=True, slots=True)
class NodeMenu:
    """What can be done about a node."""

    name: str
    filter_href: str = ""
    """Its events; "" without a session."""
    breakpoint: str = ""
    """The draft of a breakpoint as JSON; "" for a node that can't be broken on."""
    place: str = ""
    """`travel/tools.py:12`; "" if it is unknown."""
    about: str = ""
    """Its class or kind."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A box with its texts."""

    template: ClassVar[str] = "graph/node.html"
    dom_id: str
    box: Box
    shape: str
    """`frame`, `card`, `tool`, `start` or `node`."""
    kind: str
    icon: str
    name: str
    """As much of it as there is room for."""
    detail: str
    """`loop · 1.4 s`, with how often it ran."""
    status: Status
    mark: str
    """The icon of the status; "" for a node that has not run."""
    title: str
    """All of it in words."""
    menu: NodeMenu | None
    """None in a file."""


@dataclass(frozen=True, slots=True)
class GraphLine:
    path: str
    label: str
    """The route, and how often it was taken."""
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
    """The event that it is as of; None for now."""
    title: str
    note: str
    """What it lacks, or how to read it."""
    width: float
    height: float
    nodes: tuple[GraphNode, ...]
    lines: tuple[GraphLine, ...]
    break_action: str
    """Where breakpoints are added; "" in a file and on the app's own page."""
