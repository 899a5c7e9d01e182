"""Samples of the Files tab, the form of a state value, and the graph."""

from devui.web.basic_parts import Moment
from devui.web.panels.artifacts.parts import (
    ArtifactPreview,
    ArtifactsPanel,
    DiffLine,
    FileDiff,
    FileItem,
    PdfPages,
    SelectedFile,
    VersionLink,
)
from devui.web.panels.chat.content_parts import PdfPreview, PlainPreview, TablePreview
from devui.web.panels.graph.layout import Box
from devui.web.panels.graph.parts import GraphLine, GraphNode, GraphPanel, NodeMenu
from devui.web.panels.state.parts import StateForm
from devui.web.text.formats import moment
from devui.web.text.jsontree import json_tree
from tests.web import travel_samples

SAVED: Moment = moment(travel_samples.NOW)
HREF = "/sessions/7/artifacts/plan.csv?version=1"
TABLE = ArtifactPreview(
    HREF,
    "plan.csv",
    content=TablePreview(("day", "city"), (("1", "London"),), "3 more rows not shown."),
)
PICTURE = ArtifactPreview(HREF, "map.png", "picture")
PREVIEWS = (
    TABLE,
    PICTURE,
    ArtifactPreview(HREF, "note.mp3", "audio"),
    ArtifactPreview(HREF, "walk.mp4", "video"),
    ArtifactPreview(HREF, "plan.json", content=json_tree({"days": [1, 2]})),
    ArtifactPreview(HREF, "plan.txt", content=PlainPreview("Day 1: London")),
    ArtifactPreview(HREF, "plan.zip"),
    PdfPreview(f"{HREF}&page=1", f"{HREF}&pages=yes"),
    PdfPreview(),
    PdfPages("2 pages", (f"{HREF}&page=1", f"{HREF}&page=2"), "48 more pages: download the file."),
    PdfPages(problem="This PDF can't be drawn: it is damaged, encrypted, or too large."),
)
DIFFERENCE = FileDiff(
    "v0",
    "v1",
    (DiffLine("@", "line 1"), DiffLine("-", "Paris"), DiffLine("+", "London")),
    note="Only the first 2,000 lines are compared.",
)
PICTURES = FileDiff("v0", "v1", before=PICTURE, after=PICTURE)
FILE = SelectedFile(
    name="plan.csv",
    raw_name="plan.csv",
    version=1,
    facts="text/csv · 24 B",
    saved_at=SAVED,
    metadata=json_tree({"by": "planner"}),
    open_href=HREF,
    save_href=f"{HREF}&download=1",
    versions=(
        VersionLink("v1", HREF, "now", current=True),
        VersionLink("v0", HREF, "", current=False),
    ),
    compare=(VersionLink("v0", HREF, "", current=False),),
    content=TABLE,
)
FILES = ArtifactsPanel(
    number=11,
    files=(
        FileItem(
            "plan.csv", HREF, "text/csv", "24 B", "2 versions", SAVED, of_user=False, current=True
        ),
        FileItem("map.png", HREF, "image/png", "2 kB", "", SAVED, of_user=True, current=False),
    ),
    more="2 more files",
    file=FILE,
    fields=(("file", "plan.csv"),),
    upload_action="/sessions/7/files",
    delete_action="/sessions/7/files/delete",
    read_only=False,
)
STATE_FORMS = tuple(
    StateForm("/sessions/7/state", "/sessions/7", key, key, kind, text, json, 12)
    for key, kind, text, json in [
        ("city", "text", "London", '"London"'),
        ("days", "number", "3", "3"),
        ("paid", "boolean", "true", "true"),
        ("", "json", "", ""),
    ]
)
NODE = GraphNode(
    dom_id="graph-0",
    box=Box(0, 0, 0, 160, 44),
    shape="card",
    kind="agent",
    icon="call",
    name="FlightAgent",
    detail="agent · 2 events",
    status="done",
    mark="final",
    title="FlightAgent, an agent: ran twice",
    menu=NodeMenu(
        "FlightAgent",
        "/sessions/7?filter=agent:FlightAgent",
        '{"gate": "before_agent"}',
        "travel/agent.py:3",
        "LlmAgent",
    ),
)
LINE = GraphLine("M0 0L10 10", "yes", 5, 5, is_taken=True, back=False, title="to HotelAgent")
GRAPH = GraphPanel(
    None, "Graph of travel", "Select a node.", 200, 80, (NODE,), (LINE,), "/breakpoints"
)
ALL = (*PREVIEWS, DIFFERENCE, PICTURES, FILES, *STATE_FORMS, NODE, GRAPH)
