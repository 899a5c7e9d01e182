"""The layout of graphs, for apps of any structure."""

from hypothesis import given, settings
from hypothesis import strategies as st

from devui.web.panels.graph.layout import FRAMES, TOOLS, Box, layout
from devui.wire.structure import StructureEdge, StructureNode

CONTAINERS = ["agent", "sequential", "parallel", "loop", "workflow"]


@st.composite
def structures(draw):
    """Draw a tree of up to 60 nodes, with any edges between nodes of workflows, even cycles."""
    nodes = [StructureNode(name="root", kind=draw(st.sampled_from(CONTAINERS)))]
    for _ in range(draw(st.integers(0, 59))):
        kinds = [*CONTAINERS, "tool", "agent_tool", "function", "join"]
        kind, owner = draw(st.sampled_from(kinds)), draw(st.integers(0, len(nodes) - 1))
        if nodes[owner].kind in {"tool", "function", "join"} or (
            nodes[owner].kind == "agent_tool" and kind != "agent"
        ):
            continue
        name = draw(st.text(alphabet="abc_", min_size=1, max_size=60))
        nodes.append(StructureNode(name=name, kind=kind, parent=owner))
    edges = []
    for owner, node in enumerate(nodes):
        inside = [i for i, each in enumerate(nodes) if each.parent == owner]
        if node.kind == "workflow" and inside:
            ends = st.tuples(st.sampled_from(inside), st.sampled_from(inside))
            for source, target in draw(st.lists(ends, max_size=12)):
                edges.append(StructureEdge(source=source, target=target, route="go"))
    return nodes, edges


def apart(one: Box, two: Box) -> bool:
    across = one.x + one.w <= two.x or two.x + two.w <= one.x
    return across or one.y + one.h <= two.y or two.y + two.h <= one.y


def within(inner: Box, outer: Box) -> bool:
    across = outer.x <= inner.x and inner.x + inner.w <= outer.x + outer.w
    return across and outer.y <= inner.y and inner.y + inner.h <= outer.y + outer.h


@settings(max_examples=80, deadline=None)
@given(structures())
def test_nodes_never_overlap_and_edges_connect_nodes(structure):
    nodes, edges = structure
    picture = layout(nodes, edges)
    assert picture == layout(nodes, edges)
    boxes = {box.node: box for box in picture.boxes}
    assert len(boxes) == len(picture.boxes) == len(nodes)
    whole = Box(-1, 0, 0, picture.width + 0.01, picture.height + 0.01)
    around = {i: set() for i in boxes}
    for i, node in enumerate(nodes):
        assert within(boxes[i], whole)
        owner = node.parent
        contains = owner is not None and (nodes[owner].kind in FRAMES or node.kind in TOOLS)
        if contains:
            assert within(boxes[i], boxes[owner])
        while owner is not None:
            around[i].add(owner)
            owner = nodes[owner].parent
    for one, box in boxes.items():
        for two in range(one):
            if two not in around[one] and one not in around[two]:
                assert apart(box, boxes[two]), (nodes[one], nodes[two])
    for line in picture.lines:
        assert line.source in boxes
        assert line.target in boxes
    drawn_pairs = {(line.source, line.target) for line in picture.lines}
    assert {(edge.source, edge.target) for edge in edges} <= drawn_pairs
