"""One run of a workflow: its nodes, in sequence and in parallel (adk-runtime 12.3)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.agent_tree import common_branch
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.workflow.base_node import START
from devui.runtime.workflow.errors import WorkflowConfigurationError
from devui.runtime.workflow.node_run import Run, judged
from devui.runtime.workflow.node_runner import Start, perform

if TYPE_CHECKING:
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.graph import Graph
    from devui.runtime.workflow.node_run import NodeRun, Route


# `NodeStatus`: the status of a node in a workflow (adk-runtime 12.4).


class NodeStatus(IntEnum):
    """The status of a node; the numbers are stored in the checkpoints of resumable apps."""

    INACTIVE = 0
    PENDING = 1
    RUNNING = 2
    COMPLETED = 3
    WAITING = 4
    FAILED = 5
    CANCELLED = 6


# The checkpoints of a workflow in a resumable app (resume seed; adk-runtime 12.4).


async def checkpoint(run: NodeRun, places: Mapping[str, Place] | None) -> None:
    """Record the status of a workflow's nodes; `places` is None when the workflow has ended.

    Records nothing in an app that isn't resumable.
    """
    if not run.invocation.is_resumable:
        return
    actions = EventActions(end_of_agent=True) if places is None else _progress(places)
    await run.running.emit(
        Event(
            invocation_id=run.invocation.invocation_id,
            author=run.name,
            branch=run.invocation.branch,
            actions=actions,
        )
    )


def _progress(places: Mapping[str, Place]) -> EventActions:
    nodes = {
        name: {"status": int(place.status), "interrupts": list(place.interrupts)}
        for name, place in places.items()
    }
    return EventActions(agent_state={"nodes": nodes})


# Nodes of a graph start when the nodes before them end (adk-runtime 12.3).


@dataclass(frozen=True, slots=True)
class Trigger:
    """A run to be started."""

    input: Any = None
    branch: str | None = None
    """The branch to continue on; None for the workflow's."""
    own_branch: bool = False
    """Whether several nodes follow, so that each needs a branch of its own."""


@dataclass(frozen=True, slots=True)
class _Ended:
    output: Any
    branch: str | None


class Triggers:
    """The runs to be started, in the order in which they were triggered."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._waiting: dict[str, deque[Trigger]] = {}
        self._ends: dict[str, _Ended] = {}
        """How each node ended most recently: its output and branch."""
        self._arrivals: dict[str, set[str]] = {}
        """For each node that waits for all, the predecessors that have ended since it last ran."""

    def begin(self, node_input: Any, branch: str | None) -> None:
        """Trigger the nodes that follow START."""
        first = self._graph.first()
        self._ends[START.name] = _Ended(node_input, branch)
        for node in first:
            if node.waits_for_all:
                self._arrive(node.name, START.name)
            else:
                self._add(node.name, Trigger(node_input, None, len(first) > 1))

    def end(self, name: str, output: Any, route: Route | None, branch: str | None) -> None:
        """Trigger the nodes that follow one that has ended."""
        self._ends[name] = _Ended(output, branch)
        following = self._graph.after(name, route)
        for node in following:
            if node.waits_for_all:
                self._arrive(node.name, name)
            else:
                self._add(node.name, Trigger(output, branch, len(following) > 1))

    def names(self) -> list[str]:
        """Return the names of the nodes that have runs to start."""
        return list(self._waiting)

    def take(self, name: str) -> Trigger:
        """Remove and return the next run of the node."""
        trigger = self._waiting[name].popleft()
        if not self._waiting[name]:
            del self._waiting[name]
        return trigger

    def _add(self, name: str, trigger: Trigger) -> None:
        self._waiting.setdefault(name, deque()).append(trigger)

    def _arrive(self, name: str, before: str) -> None:
        arrivals = self._arrivals.setdefault(name, set())
        arrivals.add(before)
        predecessors = self._graph.before(name)
        if not arrivals.issuperset({*predecessors} - {START.name}):
            return
        self._arrivals[name] = set()
        ends = {each: self._ends[each] for each in predecessors}
        self._add(
            name,
            Trigger(
                {each: end.output for each, end in ends.items()},
                common_branch(end.branch for end in ends.values()),
            ),
        )


@dataclass(slots=True)
class Place:
    """The state of one node of the graph."""

    status: NodeStatus = NodeStatus.RUNNING
    interrupts: list[str] = field(default_factory=list)
    """The ids of the questions that it waits for."""


class GraphRun:
    """Runs the nodes of a graph within the run of its workflow.

    A node runs once for each trigger, and never twice at the same time. When an invocation is
    resumed, runs that had ended are taken from the history, in the order in which they ended.
    """

    def __init__(self, graph: Graph, run: NodeRun, limit: int | None) -> None:
        """`limit` is how many nodes may run at the same time; None or 0 for all."""
        self._graph = graph
        self._run = run
        self._limit = limit if limit and limit > 0 else None
        self._triggers = Triggers(graph)
        self._places: dict[str, Place] = {}
        self._tasks: dict[str, asyncio.Task[NodeRun]] = {}
        self._ghosts: dict[str, tuple[int, NodeRun]] = {}
        """Runs whose results are known from the history, with the positions of their ends in it."""
        self._outputs: dict[str, Any] = {}

    async def complete(self, node_input: Any) -> None:
        """Run until nothing is left to do; the outcome is stored in the workflow's run."""
        self._triggers.begin(node_input, self._run.invocation.branch)
        passages = self._run.invocation.abort_switch.passages
        passages.append(self)
        try:
            while self._run.error is None and await self._step():
                pass
            if self._run.error is None:
                await self._finish_children()
        finally:
            passages.remove(self)
            await self._stop()
        if self._run.error is not None or self._run.invocation.is_aborted:
            return
        self._conclude()
        if not (self._run.interrupts or self._run.waits):
            await checkpoint(self._run, None)

    def is_carrying(self) -> bool:
        """Whether a node has ended whose result hasn't been processed yet."""
        return any(task.done() for task in self._tasks.values())

    async def _step(self) -> bool:
        """Start what can start, and process what has ended; return False if nothing is left."""
        await self._begin_ready()
        if self._ghosts:
            name = min(self._ghosts, key=lambda each: self._ghosts[each][0])
            await self._settle(name, self._ghosts.pop(name)[1], is_recorded=True)
            return True
        if not self._tasks or self._run.invocation.is_aborted:
            return False
        await asyncio.wait(self._tasks.values(), return_when=asyncio.FIRST_COMPLETED)
        while names := [name for name, task in self._tasks.items() if task.done()]:
            for name in names:
                await self._settle(name, self._tasks.pop(name).result(), is_recorded=False)
        if self._tasks:
            await self._run.running.tell_ends()
        return True

    # Starting

    async def _begin_ready(self) -> None:
        for name in self._triggers.names():
            if self._task_waits():
                return
            if self._is_busy(name):
                continue
            if self._limit and len(self._tasks) + len(self._ghosts) >= self._limit:
                return
            self._places[name] = Place()
            if self._begin(self._graph.node(name), self._triggers.take(name)):
                await checkpoint(self._run, self._places)

    def _task_waits(self) -> bool:
        """Whether an agent is in a conversation with the user, during which no node starts."""
        waiting = (n for n, place in self._places.items() if place.status is NodeStatus.WAITING)
        return any(dict(self._graph.node(name)).get("mode") == "task" for name in waiting)

    def _is_busy(self, name: str) -> bool:
        place = self._places.get(name)
        return place is not None and (place.status is NodeStatus.RUNNING or bool(place.interrupts))

    def _begin(self, node: BaseNode, trigger: Trigger) -> bool:
        """Start a run; return False if its result is known from the history."""
        run_id = self._run.running.next_id(self._run.path, node.name)
        start = Start(
            node=node,
            parent=self._run,
            run_id=run_id,
            input=trigger.input,
            branch=trigger.branch,
            own_branch=trigger.own_branch,
            takes_output=node.name in self._graph.last,
        )
        record = self._run.running.records.get(start.path)
        if dict(node).get("mode") == "task":
            start.scope = start.path
        if record is not None:
            start.scope = record.scope or start.scope
        verdict = judged(node, record)
        if isinstance(verdict, Run):
            start.answers = verdict.answers
            self._tasks[node.name] = asyncio.create_task(perform(start), name=start.path)
            return True
        branch, index = (record.branch, record.settled_at) if record else (None, 0)
        self._ghosts[node.name] = (index, start.from_history(verdict, branch))
        return False

    # Ending

    async def _settle(self, name: str, run: NodeRun, *, is_recorded: bool) -> None:
        """Process the end of a run; `is_recorded` says whether the history has it already."""
        place = self._places[name]
        if run.error is not None:
            place.status = NodeStatus.FAILED
            if self._run.error is None:
                self._run.fail(run.error, run.error_path)
            return
        unfinished = self._graph.node(name).wait_for_output and not run.has_result
        waits = unfinished or run.waits or bool(run.interrupts)
        place.interrupts = sorted(run.interrupts)
        place.status = NodeStatus.WAITING if waits else NodeStatus.COMPLETED
        if not is_recorded:
            await checkpoint(self._run, self._places)
        if place.status is NodeStatus.WAITING:
            return
        self._outputs[name] = run.output
        self._triggers.end(name, run.output, run.route, run.invocation.branch)

    async def _finish_children(self) -> None:
        """Wait for the runs that nodes started without waiting for them."""
        tasks = self._run.running.at_work(self._run.path)
        if not tasks:
            return
        await asyncio.wait(tasks)
        for task in tasks:
            error = None if task.cancelled() else _outcome(task)
            if error is not None and self._run.error is None:
                self._run.fail(error, self._run.path)

    async def _stop(self) -> None:
        """Cancel what is still running, and wait until it has stopped."""
        tasks = [*self._tasks.values(), *self._run.running.at_work(self._run.path)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _conclude(self) -> None:
        """Set what the workflow's run waits for, or its output."""
        for place in self._places.values():
            self._run.interrupts.update(place.interrupts)
            self._run.waits = self._run.waits or place.status is NodeStatus.WAITING
        if self._run.interrupts:
            return
        outputs = {
            n: self._outputs[n] for n in self._graph.last if self._outputs.get(n) is not None
        }
        if len(outputs) > 1:
            raise WorkflowConfigurationError(
                f"Several final nodes of workflow {self._run.name!r} returned an output:"
                f" {sorted(outputs)}. Connect them to a JoinNode, whose output becomes the"
                " workflow's."
            )
        self._run.claimant_chosen = bool(outputs)
        for output in outputs.values():
            self._run.give(output)


def _outcome(task: asyncio.Task[NodeRun]) -> Exception | None:
    """Return the error of a run that nobody waited for, if it has one."""
    error = task.exception()
    if error is not None:
        return error if isinstance(error, Exception) else RuntimeError(str(error))
    run = task.result()
    if run.error is None and run.interrupts:
        return RuntimeError(
            f"Node {run.path} asks the user a question, but the node that started it did not"
            " wait for it. Await ctx.run_node() directly."
        )
    return run.error
