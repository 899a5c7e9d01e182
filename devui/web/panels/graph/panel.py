"""The Graph tab: agents, tools and workflow nodes, with their activity."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Final

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.predicates.expressions import quoted
from devui.debugger.predicates.filters import exact
from devui.store.journal import Journal
from devui.store.rows import EventRow, SessionRow
from devui.web.links import breakpoints_url, session_url
from devui.web.panels.graph.activity import (
    Activity,
    GraphActivity,
    Status,
    course,
    structure_of_events,
)
from devui.web.panels.graph.layout import FRAMES, TOOLS, Box, Line, layout
from devui.web.panels.graph.moments import Moment, Place, holds_before, moment_of
from devui.web.panels.graph.parts import GraphLine, GraphNode, GraphPanel, NodeMenu
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import duration, plural
from devui.wire.messages import AppInfo
from devui.wire.structure import StructureEdge, StructureNode

MOST: Final = 5000
"""How many of the last events are counted."""
_END: Final = 2**63 - 1
_LETTER: Final = 7.7
_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_ICONS: Final = {
    "agent": "brand",
    "sequential": "down",
    "parallel": "columns",
    "loop": "reload",
    "workflow": "workflow",
    "tool": "call",
    "agent_tool": "transfer",
    "function": "code",
    "join": "join",
    "start": "continue",
}
_WORDS: Final = {"agent_tool": "agent as a tool", "sequential": "sequence"}
_MARKS: Final[dict[Status, str]] = {
    "idle": "",
    "done": "check",
    "running": "continue",
    "held": "pause",
    "waiting": "human",
    "failed": "error",
}
_STATUS_WORDS: Final[dict[Status, str]] = {
    "idle": "not run",
    "done": "has run",
    "running": "running",
    "held": "paused here",
    "waiting": "waiting for you",
    "failed": "failed",
}
_PLAIN: Final = re.compile(r"[\w.-]+")


async def graph_panel(services: Services, session: SessionRow, row: EventRow | None) -> GraphPanel:
    """Return the graph as of an event, or as of now."""
    info = app_info(services, session.app)
    live = services.runs.live(session.key)
    holds = [(each.arrival.agent, each.arrival.tool) for each in live.stepper.holds] if live else []
    run = live.row.id if live else ""
    return await session_graph(services.journal, session, info, row=row, run=run, holds=holds)


def app_info(services: Services, app: str) -> AppInfo | None:
    """Return what is known about the app without asking its process."""
    try:
        return services.workers.status(app).info
    except UnknownApp:
        return None


async def session_graph(
    journal: Journal,
    session: SessionRow,
    info: AppInfo | None,
    *,
    row: EventRow | None = None,
    run: str = "",
    holds: Sequence[Place] = (),
    menus: bool = True,
) -> GraphPanel:
    """Return the graph of a session; without `info`, it shows only what its events name.

    `run` is the run in progress now, if any, and `holds` where it's held.
    """
    until = row.seq + 1 if row else _END
    rows = await journal.events.page(session.key, before=until, limit=MOST)
    following = await journal.events.page(session.key, after=row.seq, limit=1) if row else []
    if row and following:
        run = row.run if row.run and row.run == following[0].run else ""
        holds = holds_before(following[0]) if run else ()
    elif row and row.run != run:  # the next run has no events yet
        run, holds = "", ()
    spans = await journal.spans.with_copied(session.key)
    held = await journal.totals.holds(session.key)
    moment = partial(moment_of, rows, spans, held, run=run, is_past=bool(following), holds=holds)
    key = session.key if menus else None
    return await asyncio.to_thread(lambda: _graph(info, rows, moment(), row=row, key=key))


def _graph(
    info: AppInfo | None,
    rows: Sequence[EventRow],
    moment: Moment,
    *,
    row: EventRow | None,
    key: int | None,
) -> GraphPanel:
    nodes = info.nodes if info and info.nodes else structure_of_events(rows)
    edges = info.edges if info and info.nodes else []
    notes = []
    if nodes and not (info and info.nodes):
        notes.append("The app isn't loaded. Only agents and tools that appear in events are shown.")
    if len(rows) == MOST:
        notes.append(f"Counts include the last {MOST:,} events.")
    title = "No agents yet" if not nodes else f"As of #{row.number}" if row else "Now"
    return picture(
        (nodes, edges),
        course(nodes, rows, moment, edges=edges),
        title=title,
        note=" ".join(notes),
        event=row.number if row else None,
        key=key,
    )


def app_graph(info: AppInfo) -> GraphPanel:
    """Return the graph of an app's structure, without activity."""
    idle = GraphActivity(tuple(Activity() for _ in info.nodes), Counter())
    panel = picture((info.nodes, info.edges), idle, title="")
    places = {f"graph-{number}": node for number, node in enumerate(info.nodes)}
    return replace(
        panel, nodes=tuple(_with_menu(each, places[each.dom_id]) for each in panel.nodes)
    )


def _with_menu(box: GraphNode, node: StructureNode) -> GraphNode:
    """Add a menu that opens the node's code; without a session, it has no other commands."""
    if not node.place:
        return box
    place, name = visible(node.place), visible(node.name)
    return replace(box, menu=NodeMenu(name, place=place, about=node.type))


def picture(
    structure: tuple[Sequence[StructureNode], Sequence[StructureEdge]],
    course: GraphActivity,
    *,
    title: str,
    note: str = "",
    event: int | None = None,
    key: int | None = None,
) -> GraphPanel:
    """Return the panel; `key` is the session that menus link to, if any."""
    nodes, edges = structure
    places = layout(nodes, edges)
    return GraphPanel(
        event=event,
        title=title,
        note=note,
        width=round(places.width) + 8,
        height=round(places.height) + 8,
        nodes=tuple(_node(box, nodes, course.nodes[box.node], key) for box in places.boxes),
        lines=tuple(_line(line, nodes, course) for line in places.lines),
        break_action=breakpoints_url(key) if key is not None else "",
    )


def _node(
    box: Box, nodes: Sequence[StructureNode], activity: Activity, key: int | None
) -> GraphNode:
    node = nodes[box.node]
    is_row = node.kind in TOOLS and _shape(node, nodes) == "tool"
    word = _WORDS.get(node.kind, node.kind)
    name = "start" if node.kind == "start" else visible(node.name)
    figures = [f"{activity.count}{_TIMES}"] if activity.count else []
    took = [duration(activity.seconds)] if activity.count and activity.seconds else []
    errors = [plural(activity.errors, "error")] if activity.errors else []
    withheld = [f"{count} {reason}" for reason, count in activity.withheld.items()]
    # The icon says the kind, too, and there is no room for both.
    kind = [] if errors else [word]
    detail = figures if is_row else [*kind, *figures, *took, *errors]
    width = box.w - (70 if is_row else 12 if node.kind == "start" else 56)
    return GraphNode(
        dom_id=f"graph-{box.node}",
        box=box,
        shape=_shape(node, nodes),
        kind=node.kind,
        icon=_ICONS[node.kind],
        name=_shorten(name, int(width / _LETTER)),
        detail=" · ".join(detail),
        status=activity.status,
        mark=_MARKS[activity.status],
        title=", ".join(
            [
                f"{word} {name}",
                _STATUS_WORDS[activity.status],
                *figures,
                *withheld,
                *took,
                *errors,
            ]
        ),
        menu=_menu(node, key, word) if key is not None and node.kind != "start" else None,
    )


def _shape(node: StructureNode, nodes: Sequence[StructureNode]) -> str:
    if node.kind in FRAMES:
        return "frame"
    owner = nodes[node.parent].kind if node.parent is not None else ""
    if node.kind in TOOLS:
        return "node" if owner in FRAMES else "tool"
    return {"agent": "card", "start": "start"}.get(node.kind, "node")


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most - 1, 1)]}…"


def _menu(node: StructureNode, key: int, word: str) -> NodeMenu:
    is_tool = node.kind in TOOLS
    plain = _PLAIN.fullmatch(node.name)
    if is_tool:
        term = f"tool:{exact('tool', node.name)}" if plain else f"({quoted(node.name)} in tools)"
        draft = Draft(on="tool", name=node.name)
    else:
        term = f"author:{exact('author', node.name)}" if plain else f"agent == {quoted(node.name)}"
        draft = Draft(on="agent", name=node.name)
        if node.kind in {"function", "join"}:
            draft = Draft(on="event", condition=f"node == {quoted(node.name)}")
    return NodeMenu(
        name=visible(node.name),
        filter=term,
        filter_href=session_url(key, tab="graph", only=term),
        breakpoint=json.dumps(asdict(draft)),
        place=visible(node.place),
        about=node.type or word,
    )


def _line(line: Line, nodes: Sequence[StructureNode], course: GraphActivity) -> GraphLine:
    source, target = course.nodes[line.source], course.nodes[line.target]
    times = course.ways[line.source, line.target]
    begins = nodes[line.source].kind == "start"
    both = bool((source.count or begins) and target.count)
    is_taken = times > 0 if line.back or line.route else both
    count = f"{times}{_TIMES}" if line.back and times else ""
    route = visible(line.route)
    names = " to ".join(visible(nodes[each].name.strip("_")) for each in (line.source, line.target))
    return GraphLine(
        path=line.path,
        label=" ".join(filter(None, (_shorten(route, 22), count))),
        x=line.x,
        y=line.y,
        is_taken=is_taken,
        back=line.back,
        title=", ".join(filter(None, (names, route, "taken" if is_taken else "not taken", count))),
    )
