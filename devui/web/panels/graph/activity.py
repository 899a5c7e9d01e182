"""What has run of a structure: counts, times, errors, and the ways taken. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from devui.debugger.events.nodes import name_of
from devui.debugger.events.preview import preview
from devui.debugger.events.summary import PREVIEW_LIMIT
from devui.store.rows import EventRow, SpanRow
from devui.store.summaries import WAITS_FOR_CONFIRMATION, ResponseSummary, Summary
from devui.wire.structure import StructureNode

Status = Literal["idle", "done", "running", "held", "failed"]

_TOOLS: Final = frozenset({"tool", "agent_tool"})
TRANSFER: Final = "transfer_to_agent"
_UNCONFIRMED: Final = preview({"error": "This tool call is rejected."}, PREVIEW_LIMIT)
"""What both runtimes answer in place of a tool whose call a person refuses to confirm."""
_WITHHOLDS: Final = {"skip": "skipped", "reject": "rejected", "mock": "mocked"}
_NONE: Final[Mapping[int, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Now:
    """What a run is doing: the newest run's id, and the agent and tool of each hold."""

    run: str = ""
    holds: tuple[tuple[str, str | None], ...] = ()


@dataclass(slots=True)
class Activity:
    """What one node has done."""

    count: int = 0
    """How often it ran: an agent's turns, the calls that reached a tool."""
    withheld: Counter[str] = field(default_factory=Counter)
    """Calls that didn't reach the tool, by what kept them: `skipped`, `rejected`, …"""
    seconds: float = 0.0
    """Without the time in which the run was held."""
    errors: int = 0
    has_failed: bool = False
    """Its last call failed."""
    running: bool = False
    is_held: bool = False

    @property
    def status(self) -> Status:
        """The one to act on first."""
        if self.is_held:
            return "held"
        if self.running:
            return "running"
        if self.has_failed:
            return "failed"
        return "done" if self.count else "idle"


@dataclass(frozen=True, slots=True)
class Course:
    """The activity of each node, by its position, and how often each way was taken."""

    nodes: tuple[Activity, ...]
    ways: Counter[tuple[int, int]]


def course(
    nodes: Sequence[StructureNode],
    rows: Iterable[EventRow],
    spans: Iterable[SpanRow],
    now: Now | None = None,
    *,
    hold_times: Mapping[int, float] = _NONE,
) -> Course:
    """What events and spans tell of the nodes; `now` unless they are as of a moment of the past.

    `hold_times`: for how many seconds of each span its run was held, by the span's id.
    """
    reading = _Reading(nodes, hold_times)
    for row in rows:
        reading.event(row)
    for span in spans:
        reading.span(span, now)
    for agent, tool in now.holds if now else ():
        position = reading.tool(agent, tool) if tool else reading.agent(agent)
        if position is not None:
            reading.nodes[position].is_held = True
    return reading.course()


class _Reading:
    def __init__(self, structure: Sequence[StructureNode], hold_times: Mapping[int, float]) -> None:
        self._structure, self._hold_times = structure, hold_times
        self.nodes = [Activity() for _ in structure]
        self._ways = Counter[tuple[int, int]]()
        self._turns = Counter[int]()  # by events, where no span was recorded
        self._calls = Counter[int]()
        self._call_ids = set[str | None]()
        self._withheld: dict[str | None, tuple[int, str]] = {}
        """By the id of the call: its tool, and what keeps it."""
        self._timings = Counter[int]()
        self._raised = set[int]()
        """Whose last span ended with an error."""
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
        """The position of an agent or a workflow's node."""
        return self._agents.get(name)

    def tool(self, agent: str, name: str) -> int | None:
        """The position of an agent's tool; of anybody's, if the agent has none of that name."""
        positions, owner = self._tools.get(name, []), self._agents.get(agent)
        own = (each for each in positions if self._structure[each].parent == owner)
        return next(own, positions[0] if positions else None)

    def event(self, row: EventRow) -> None:
        """Counts a committed event."""
        summary = row.summary
        if row.author == "user":
            self._last = None
            return
        name = name_of(summary.node).partition("@")[0] if summary.node else row.author
        position = self.agent(name)
        if position is None:
            position = self.agent(row.author)
        if position is not None:
            self._move(position)
            self._outcome(position, failed=summary.kind == "error")
        for call in summary.calls:
            tool = self.tool(row.author, call.name)
            if tool is not None:
                self._calls[tool] += 1
                self._call_ids.add(call.id)
        for response in summary.responses:
            tool = self.tool(row.author, response.name)
            self._withheld.pop(response.id, None)
            reason = _reason_withheld(response, summary)
            if tool is not None and reason and response.id in self._call_ids:
                self._withheld[response.id] = tool, reason
            elif tool is not None:
                self._outcome(tool, failed=response.failed)

    def _outcome(self, position: int, *, failed: bool) -> None:
        self.nodes[position].errors += failed
        self.nodes[position].has_failed = failed

    def _move(self, position: int) -> None:
        """The node works now; ways between the parts of one frame are counted for these."""
        last = self._last
        if last == position or (last is not None and self._frames(position, last)):
            return
        self._last = position
        self._turns[position] += 1
        if last is None:
            return
        before, after = list(self._chain(last)), list(self._chain(position))
        while before and after and before[-1] == after[-1]:
            before.pop()
            after.pop()
        if before and after:
            self._ways[before[-1], after[-1]] += 1

    def _frames(self, position: int, last: int) -> bool:
        """Whether the node is a frame around the last one: its checkpoints lead nowhere."""
        is_frame = self._structure[position].kind in {"sequential", "parallel", "loop", "workflow"}
        return is_frame and position in self._chain(last)

    def _chain(self, position: int | None) -> Iterator[int]:
        """The node and what it is part of, outwards."""
        while position is not None:
            yield position
            position = self._structure[position].parent

    def span(self, span: SpanRow, now: Now | None) -> None:
        """Adds the time of a call of an agent or a tool."""
        if span.type == "model":
            return
        tool = span.type == "tool"
        position = self.tool(span.agent, span.name) if tool else self.agent(span.name)
        if position is None:
            return
        node = self.nodes[position]
        # A call that waited for a consent has two spans, and one in the events.
        self._timings[position] += not tool or span.call not in self._call_ids
        if span.seconds is not None:
            node.seconds += span.seconds - self._hold_times.get(span.id, 0.0)
        node.running |= span.seconds is None and now is not None and span.run == now.run
        if span.error and not node.errors:
            node.errors += 1
        # A result may be an error, too, which the span of its call doesn't know. A call that raised
        # has no result, and its span alone knows of it.
        if span.error:
            self._raised.add(position)
        else:
            self._raised.discard(position)

    def course(self) -> Course:
        """What was counted; who contains something that ran has run itself."""
        for position, reason in self._withheld.values():
            self.nodes[position].withheld[reason] += 1
        for position, node in enumerate(self.nodes):
            node.has_failed |= position in self._raised
            calls = self._calls[position] - node.withheld.total()
            node.count = self._timings[position] + calls or self._turns[position]
        for position in reversed(range(len(self.nodes))):
            owner = self._structure[position].parent
            if owner is not None and self.nodes[position].count:
                self.nodes[owner].count = max(self.nodes[owner].count, 1)
                self._ways.setdefault((owner, position), self.nodes[position].count)
        return Course(tuple(self.nodes), self._ways)


def _reason_withheld(response: ResponseSummary, summary: Summary) -> str:
    """What keeps a call from its tool, if this answer isn't the tool's own."""
    if response.preview == WAITS_FOR_CONFIRMATION:
        return "waiting for confirmation"
    if response.preview == _UNCONFIRMED:
        return "rejected"
    acts = (each for each in summary.edits if each.gate == "before_tool")
    return next((_WITHHOLDS.get(e.action, "") for e in acts if e.call == response.id), "")


def structure_of_events(rows: Iterable[EventRow]) -> list[StructureNode]:
    """The agents and tools that events name, for a session whose app isn't loaded."""
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
