"""The activity of a structure's nodes: counts, times, errors, and edges taken. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from devui.debugger.events.nodes import name_of
from devui.store.rows import EventRow, SpanRow
from devui.store.summaries import CallSummary, ResponseSummary, Summary
from devui.web.panels.graph.moments import Moment
from devui.wire.structure import StructureEdge, StructureNode

Status = Literal["idle", "done", "running", "held", "waiting", "failed"]

_TOOLS: Final = frozenset({"tool", "agent_tool"})
TRANSFER: Final = "transfer_to_agent"
_UNANSWERED: Final = "waiting for confirmation"
_WITHHOLDS: Final = {"skip": "skipped", "reject": "rejected", "mock": "mocked"}


@dataclass(slots=True)
class Activity:
    """The activity of one node."""

    count: int = 0
    """How often it ran: the turns of an agent, the calls that reached a tool."""
    withheld: Counter[str] = field(default_factory=Counter)
    """The calls that didn't reach the tool, by the reason: `skipped`, `rejected`, …"""
    seconds: float = 0.0
    """How long it ran, without the time the run was held."""
    errors: int = 0
    has_failed: bool = False
    """Whether its last call failed."""
    running: bool = False
    is_held: bool = False
    is_waiting: bool = False
    """Whether it has asked a person who hasn't answered yet."""

    @property
    def status(self) -> Status:
        """The most urgent status that applies."""
        if self.is_held:
            return "held"
        if self.running:
            return "running"
        if self.is_waiting:
            return "waiting"
        if self.has_failed:
            return "failed"
        return "done" if self.count else "idle"


@dataclass(frozen=True, slots=True)
class GraphActivity:
    """The activity of each node, by its position, and how often each edge was taken."""

    nodes: tuple[Activity, ...]
    ways: Counter[tuple[int, int]]


def course(
    nodes: Sequence[StructureNode],
    rows: Iterable[EventRow],
    moment: Moment,
    *,
    edges: Iterable[StructureEdge] = (),
) -> GraphActivity:
    """Compute the activity of the nodes up to a moment, from the events and spans until then.

    `edges` are the edges within workflows.
    """
    reading = _Reading(nodes, edges, moment)
    for row in rows:
        reading.event(row)
    for span in moment.spans:
        reading.span(span)
    for agent, tool in moment.holds:
        position = reading.tool(agent, tool) if tool else reading.agent(agent)
        if position is not None:
            reading.nodes[position].is_held = True
    return reading.course()


class _Reading:
    def __init__(
        self,
        structure: Sequence[StructureNode],
        edges: Iterable[StructureEdge],
        moment: Moment,
    ) -> None:
        self._structure, self._moment = structure, moment
        self._sources = defaultdict[int, list[int]](list)
        """For each node of a workflow, the nodes that lead to it."""
        for edge in edges:
            self._sources[edge.target].append(edge.source)
        self._clock = 0
        self._active: dict[int, int] = {}
        """When each node was last active."""
        self.nodes = [Activity() for _ in structure]
        self._ways = Counter[tuple[int, int]]()
        self._turns = Counter[int]()  # from events, for nodes without a recorded span
        self._calls = Counter[int]()
        self._call_ids = set[str | None]()
        self._open: dict[str | None, tuple[str | None, int]] = {}
        """The run and tool of each call that has neither a response nor raised, by its id."""
        self._withheld: dict[str | None, tuple[int, str]] = {}
        """The tool and the reason of each call that didn't reach its tool, by the call's id."""
        self._questions: dict[str | None, tuple[str, int]] = {}
        """The invocation, and the node or tool that needs an answer, by the call's id."""
        self._invocation = ""
        self._timings = Counter[int]()
        self._raised = set[int]()
        """The nodes whose last span ended with an error."""
        self._last: int | None = None
        self._agents: dict[str, int] = {}
        self._tools: defaultdict[str, list[int]] = defaultdict(list)
        for position, node in enumerate(structure):
            if node.kind in _TOOLS:
                self._tools[node.name].append(position)
            if node.kind not in _TOOLS or not self._is_in_card(position):
                self._agents.setdefault(node.name, position)

    def _is_in_card(self, position: int) -> bool:
        parent = self._structure[position].parent
        return parent is not None and self._structure[parent].kind != "workflow"

    def agent(self, name: str) -> int | None:
        """Return the position of an agent or workflow node."""
        return self._agents.get(name)

    def tool(self, agent: str, name: str) -> int | None:
        """Return the position of an agent's tool, or of another agent's if it has none of that
        name."""
        positions, owner = self._tools.get(name, []), self._agents.get(agent)
        own = (each for each in positions if self._structure[each].parent == owner)
        return next(own, positions[0] if positions else None)

    def event(self, row: EventRow) -> None:
        """Count a committed event."""
        summary = row.summary
        self._invocation = row.invocation_id
        if row.author == "user":
            self._user(summary)
            return
        name = name_of(summary.node).partition("@")[0] if summary.node else row.author
        position = self.agent(name)
        if position is None:
            position = self.agent(row.author)
        if position is not None:
            self._move(position)
            self._outcome(position, failed=summary.kind == "error")
        for call in summary.calls:
            self._call(row, call, position)
        for response in summary.responses:
            self._response(row, response)

    def _user(self, summary: Summary) -> None:
        self._last = None
        for response in summary.responses:
            self._questions.pop(response.id, None)
        if not summary.responses:
            self._start()

    def _call(self, row: EventRow, call: CallSummary, position: int | None) -> None:
        """Count a call by the agent or node at `position`."""
        tool = self.tool(row.author, call.name)
        asker = position if tool is None else tool
        if call.long_running and asker is not None:
            self._questions[call.id] = row.invocation_id, asker
        if tool is not None:
            self._calls[tool] += 1
            self._call_ids.add(call.id)
            self._open[call.id] = row.run, tool

    def _response(self, row: EventRow, response: ResponseSummary) -> None:
        tool = self.tool(row.author, response.name)
        self._open.pop(response.id, None)
        self._withheld.pop(response.id, None)
        self._questions.pop(response.id, None)
        reason = _reason_withheld(response, row.summary)
        if tool is not None and reason and response.id in self._call_ids:
            self._withheld[response.id] = tool, reason
            if reason == _UNANSWERED:
                self._questions[response.id] = row.invocation_id, tool
        elif tool is not None:
            self._outcome(tool, failed=response.failed)

    def _outcome(self, position: int, *, failed: bool) -> None:
        self.nodes[position].errors += failed
        self.nodes[position].has_failed = failed

    def _move(self, position: int) -> None:
        """Record that a node is active. If the run moved between two parts of one frame, count the
        edge between these parts."""
        last = self._last
        if last is not None and self._frames(position, last):
            return
        self._arrive(position)
        if last == position:
            return
        self._last = position
        self._turns[position] += 1
        if last is None:
            return
        before, after = list(self._chain(last)), list(self._chain(position))
        while before and after and before[-1] == after[-1]:
            before.pop()
            after.pop()
        if before and after and not self._is_in_workflow(after[-1]):
            self._ways[before[-1], after[-1]] += 1

    def _is_in_workflow(self, position: int) -> bool:
        parent = self._structure[position].parent
        return parent is not None and self._structure[parent].kind == "workflow"

    def _start(self) -> None:
        """Mark the start node of every workflow as active, since a message starts there."""
        self._clock += 1
        for position, node in enumerate(self._structure):
            if node.kind == "start":
                self._active[position] = self._clock

    def _arrive(self, position: int) -> None:
        """Count the edge to a workflow node, from whichever of its sources was active last. The
        order of events doesn't say which, since nodes may run in parallel."""
        self._clock += 1
        for node in self._chain(position):
            sources = self._sources.get(node, ())
            source = max(sources, key=lambda each: self._active.get(each, 0), default=node)
            if self._active.get(source, 0) > self._active.get(node, 0):
                self._ways[source, node] += 1
            self._active[node] = self._clock

    def _frames(self, position: int, last: int) -> bool:
        """Return whether the node is a frame around the last one, whose checkpoints don't count as
        moves."""
        is_frame = self._structure[position].kind in {"sequential", "parallel", "loop", "workflow"}
        return is_frame and position in self._chain(last)

    def _chain(self, position: int | None) -> Iterator[int]:
        """Yield the node and its ancestors, innermost first."""
        while position is not None:
            yield position
            position = self._structure[position].parent

    def span(self, span: SpanRow) -> None:
        """Add the time of a call of an agent or tool."""
        if span.type == "model":
            return
        tool = span.type == "tool"
        position = self.tool(span.agent, span.name) if tool else self.agent(span.name)
        if position is None:
            return
        node = self.nodes[position]
        # A call that waited for confirmation has two spans, but is one call in the events.
        self._timings[position] += not tool or span.call not in self._call_ids
        if span.seconds is not None:
            node.seconds += span.seconds - self._moment.hold_times.get(span.id, 0.0)
        if span.id in self._moment.running:
            node.running = True
        else:
            self._open.pop(span.call, None)
        if span.error and not node.errors:
            node.errors += 1
        # A result may be an error that its span doesn't know about. A call that raised has no
        # result, so only its span shows the error.
        if span.error:
            self._raised.add(position)
        else:
            self._raised.discard(position)

    def course(self) -> GraphActivity:
        """Return the result; a node with a descendant that ran counts as having run."""
        for position, reason in self._withheld.values():
            self.nodes[position].withheld[reason] += 1
        for run, position in self._open.values():
            self.nodes[position].running |= run is not None and run == self._moment.past_run
        for invocation, position in self._questions.values():
            self.nodes[position].is_waiting |= invocation == self._invocation
        for position, node in enumerate(self.nodes):
            node.has_failed |= position in self._raised
            calls = self._calls[position] - node.withheld.total()
            node.count = self._timings[position] + calls or self._turns[position]
        for position in reversed(range(len(self.nodes))):
            owner = self._structure[position].parent
            if owner is not None and self.nodes[position].count:
                self.nodes[owner].count = max(self.nodes[owner].count, 1)
                self._ways.setdefault((owner, position), self.nodes[position].count)
        return GraphActivity(tuple(self.nodes), self._ways)


def _reason_withheld(response: ResponseSummary, summary: Summary) -> str:
    """Return why a call didn't reach its tool; "" if the response is the tool's own."""
    if response.waits_for == "confirmation":
        return _UNANSWERED
    if response.is_refused:
        return "rejected"
    acts = (each for each in summary.edits if each.gate == "before_tool")
    return next((_WITHHOLDS.get(e.action, "") for e in acts if e.call == response.id), "")


def structure_of_events(rows: Iterable[EventRow]) -> list[StructureNode]:
    """Return the agents and tools that events name, for a session whose app isn't loaded."""
    nodes: list[StructureNode] = []
    agents: dict[str, int] = {}
    tools: set[tuple[str, str]] = set()
    parents: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in agents:
            parent = agents.get(parents.get(name, ""), 0) if nodes else None
            agents[name] = len(nodes)
            nodes.append(StructureNode(name=name, kind="agent", parent=parent))

    for row in rows:
        if row.author == "user":
            continue
        add(row.author)
        for call in row.summary.calls:
            if call.name != TRANSFER and (row.author, call.name) not in tools:
                tools.add((row.author, call.name))
                owner = agents[row.author]
                nodes.append(StructureNode(name=call.name, kind="tool", parent=owner))
        if row.summary.transfer_to:
            parents.setdefault(row.summary.transfer_to, row.author)
    return nodes
