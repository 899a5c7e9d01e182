"""`NodeRun`: one run of a node, and its result (adk-runtime 12.3, 12.4)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.invocation_events import is_request
from devui.runtime.events.event_actions import EventActions
from devui.runtime.workflow.requests import answer_of, asked_for
from devui.runtime.workflow.values import text_of

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.base_node import BaseNode

# What to do about a run when its invocation is resumed (adk-runtime 12.6).


@dataclass(slots=True)
class Run:
    """The verdict that the node has to run, with the answers to its questions, if any."""

    answers: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class NodeEnded:
    """The verdict that the node has ended before, with this result."""

    output: Any = None
    route: Route | None = None


@dataclass(slots=True)
class Waiting:
    """The verdict that the node has to wait until these questions have been answered."""

    interrupts: set[str]


Verdict = Run | NodeEnded | Waiting

_PATIENCE = 1.0
"""Seconds to wait for a run's turn: the code may never ask for the runs before it."""
_TURNS_OF_THE_LOOP = 5
"""How many iterations of the event loop code gets for one result before the next is delivered;
enough for `asyncio.wait`."""


class RecordedOrder:
    """The order in which runs below a run ended, and in which their results are delivered again.

    Code that runs nodes in parallel gets the same results this way: the first to end is first
    again.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are the paths of the runs, in the order in which they ended."""
        self._remaining = dict.fromkeys(paths)
        self._turns: dict[str, asyncio.Event] = {}

    async def turn_of(self, path: str) -> None:
        """Wait until the results of the runs that ended before this one have been delivered.

        Code that takes another path now may never ask for them, so the wait has a time limit.
        """
        if path not in self._remaining or path == next(iter(self._remaining)):
            return
        turn = self._turns[path] = asyncio.Event()
        try:
            while not turn.is_set():
                await self._wait_for(turn)
        finally:
            del self._turns[path]
        for _ in range(_TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)

    async def _wait_for(self, turn: asyncio.Event) -> None:
        count = len(self._remaining)
        try:
            async with asyncio.timeout(_PATIENCE):
                await turn.wait()
        except TimeoutError:
            if len(self._remaining) == count:
                while next(iter(self._remaining)) not in self._turns:
                    del self._remaining[next(iter(self._remaining))]
                self._call()

    def release(self, path: str) -> None:
        """Note that the result of a run has been delivered, or that it runs again."""
        if path in self._remaining:
            del self._remaining[path]
            self._call()

    def _call(self) -> None:
        turn = self._turns.get(next(iter(self._remaining), ""))
        if turn is not None:
            turn.set()


def judged(node: BaseNode, record: Record | None) -> Verdict:
    """Decide what to do about a run of the node, given its record in the history."""
    if record is None:
        return Run()
    if node.finds_its_way or (record.failed and not record.open):
        return Run(record.answers)
    if record.open:
        goes_on = node.rerun_on_resume and record.is_answered
        return Run(record.answers) if goes_on else Waiting(record.open)
    if record.gave:
        return NodeEnded(_read(node, record.output), record.route)
    if record.answers and not node.rerun_on_resume:
        return NodeEnded(_answer_output(record), record.route)
    if record.ended:
        return NodeEnded(None, record.route)
    return Run(record.answers)


def _answer_output(record: Record) -> Any:
    """Return the output of a node that isn't rerun: its only answer, or all answers by id."""
    answers = dict(record.answers)
    return next(iter(answers.values())) if len(answers) == 1 else answers


def _read(node: BaseNode, output: Any) -> Any:
    """Return an output as a value; a message becomes its text, or None if that is blank."""
    if not isinstance(output, types.Content):
        return output
    return text_of(output).strip() or None


Route = bool | int | str | list[bool | int | str]


@dataclass(slots=True, eq=False, kw_only=True)
class NodeRun:
    """One run of a node: its state, what it was given, and what it gave.

    The top run of an invocation has no node and an empty path.
    """

    running: Running
    """What all runs of the invocation share."""
    invocation: InvocationContext
    """The invocation as this run sees it, with its branch and path."""
    node: BaseNode | None = None
    parent: NodeRun | None = None
    path: str = ""
    """The run, below the runs that it is part of: `wf@1/writer@2`."""
    run_id: str = ""
    attempt: int = 1
    resume_inputs: dict[str, Any] = field(default_factory=dict)
    """The answers to questions of this run or of runs below it, by interrupt id."""
    claimed_by: NodeRun | None = None
    """The run that takes this run's output as its own, if any."""
    state_schema: Any = None
    author: str = ""
    """The author of its events; if empty, the name of the node."""
    scope: str | None = None
    """The isolation scope of its events, which marks those of a delegated task."""

    context: Context | None = None
    """The context that the node's code gets."""
    output: Any = None
    output_told: bool = False
    """Whether an event carries the output already."""
    event_ids: list[str] = field(default_factory=list)
    """The ids of the events that it has sent, recorded in its span."""
    claimant_chosen: bool = False
    """Whether the output is carried by a message, or sent by a node below."""
    route: Route | None = None
    route_told: bool = True
    interrupts: set[str] = field(default_factory=set)
    """The ids of the questions that are still to be answered."""
    waits: bool = False
    """Whether a node below has to continue before this one can end, without an open question."""
    error: Exception | None = None
    error_path: str = ""

    @property
    def name(self) -> str:
        """The name of the node; empty at the top."""
        return self.node.name if self.node else ""

    @property
    def output_for(self) -> list[str]:
        """The paths of this run and of those that take its output as their own."""
        above = self.claimed_by
        return [self.path, *(above.output_for if above else [])]

    @property
    def changes(self) -> EventActions:
        """The changes by the node that no event carries yet."""
        return self.context.actions if self.context else EventActions()

    @property
    def has_result(self) -> bool:
        """Whether it gave an output or a route."""
        return self.output is not None or self.route is not None

    def give(self, output: Any) -> None:
        """Set the output.

        Raises:
            ValueError: the run already has one.
        """
        if self.output is not None:
            raise ValueError(
                f"Node {self.name!r} returned a second output. A run has one output; put several"
                " values into a list, or run separate nodes with ctx.run_node()."
            )
        self.output = output

    def take(self, verdict: NodeEnded | Waiting) -> None:
        """Take over the result from the history; none of it is sent again."""
        self.output_told = True
        if isinstance(verdict, NodeEnded):
            self.output, self.route = verdict.output, verdict.route
        else:
            self.interrupts = set(verdict.interrupts)

    def fail(self, error: Exception, path: str) -> None:
        """Set the error, and the path of the run that raised it."""
        self.error, self.error_path = error, path


def path_below(parent: str, name: str, run_id: str) -> str:
    """Return the path of a run below another."""
    return f"{parent}/{name}@{run_id}" if parent else f"{name}@{run_id}"


def parent_of(path: str) -> str:
    """Return the path of the run that a run is part of; empty for a root."""
    return path.rpartition("/")[0]


# What the history says about the runs of an invocation (resume seed; adk-runtime 12.6).


NODE_ENDED = "__adk_internal_node_ended"
"""Key of custom metadata: the node ended with this event, without an output or a route."""
NODE_ROUTE = "__adk_internal_node_route"
"""Key of custom metadata, on an event with an output: the route, which the next event carries.

If the run is abandoned or killed between the two events, it would otherwise resume on another route
or none.
"""


def only_says_that_a_node_ended(event: Event) -> bool:
    """Whether an event is only for the history, and of no interest to callers of the workflow."""
    actions = event.actions
    return (
        bool((event.custom_metadata or {}).get(NODE_ENDED))
        and event.content is None
        and event.error_code is None
        and not (actions.state_delta or actions.artifact_delta)
    )


@dataclass(slots=True)
class Record:
    """What the history says about one run."""

    output: Any = None
    route: Route | None = None
    gave: bool = False
    """Whether it gave an output or a route since its last question."""
    ended: bool = False
    """Whether it ended without an output or a route."""
    failed: bool = False
    """Whether its latest attempt failed."""
    questions: dict[str, Any] = field(default_factory=dict)
    """The questions that it or a run below it asked a person: the answers' schemas by interrupt
    id."""
    answers: dict[str, Any] = field(default_factory=dict)
    is_answered: bool = False
    """Whether a question was answered since its last event."""
    branch: str | None = None
    scope: str | None = None
    settled_at: int = 0
    """The position in the history of the event that brought it to its current state."""

    @property
    def open(self) -> set[str]:
        """The ids of the questions without an answer."""
        return self.questions.keys() - self.answers.keys()

    @property
    def has_ended(self) -> bool:
        """Whether it needn't run again, except to get the answers to its questions."""
        return not self.failed and not self.open and (self.gave or self.ended or bool(self.answers))


class Records:
    """The runs of one invocation by path, read from the events of the session."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._runs: dict[str, Record] = {}
        self._askers: dict[str, str] = {}
        """The run that asked each question last; an id may be reused once it has been answered."""
        for index, event in enumerate(events):
            if event.author == "user":
                self._take_answers(index, event)
            elif event.node_info.path and not event.partial:
                self._take(index, event)
        self._ended_paths: dict[str, list[str]] = {}
        for path, record in sorted(self._runs.items(), key=lambda each: each[1].settled_at):
            if record.has_ended:
                self._ended_paths.setdefault(parent_of(path), []).append(path)

    @classmethod
    def of(cls, ctx: InvocationContext) -> Records:
        """Read the runs of the invocation from its session.

        Raises:
            WorkflowDataError: an answer doesn't fit what was asked for.
        """
        return cls(ctx.history.events)

    def get(self, path: str) -> Record | None:
        """Return the record of the run at that path; None if there is none."""
        return self._runs.get(path)

    def asker(self, interrupt: str) -> str | None:
        """Return the path of the run that waits for the answer with that id; None if none does."""
        path = self._askers.get(interrupt)
        return path if path and interrupt in self._runs[path].open else None

    def ended_below(self, path: str) -> list[str]:
        """Return the paths of the runs directly below that one that have ended, in that order."""
        return self._ended_paths.get(path, [])

    def _record(self, path: str) -> Record:
        return self._runs.setdefault(path, Record())

    def _take(self, index: int, event: Event) -> None:
        path = event.node_info.path
        record = self._record(path)
        record.scope = event.isolation_scope or record.scope
        questions = asked_for(event)
        self._askers.update(dict.fromkeys(questions, path))
        for owner in _upwards(path):
            above = self._record(owner)
            above.questions |= questions
            above.is_answered = False
            for interrupt in questions:
                above.answers.pop(interrupt, None)
        if event.error_code and not _gives(event):
            record.failed = True
            return
        record.failed = False
        if len(event.node_info.output_for or ()) < 2:  # shared outputs may be on another branch
            record.branch = event.branch or record.branch
        if (event.custom_metadata or {}).get(NODE_ENDED):
            record.ended, record.settled_at = True, index
        for owner in {path, *(event.node_info.output_for or ())}:
            self._take_result(index, event, self._record(owner))

    def _take_result(self, index: int, event: Event, record: Record) -> None:
        if not _gives(event):
            return
        record.failed, record.gave, record.settled_at = False, True, index
        output = event.content if event.node_info.message_as_output else event.output
        record.output = record.output if output is None else output
        route = event.actions.route
        if route is None:
            route = (event.custom_metadata or {}).get(NODE_ROUTE)
        record.route = record.route if route is None else route

    def _take_answers(self, index: int, event: Event) -> None:
        for response in event.get_function_responses():
            call_id = response.id or ""
            for path in _upwards(self._askers.get(call_id, "")):
                record = self._runs[path]
                if not _is_repeated(response, record):
                    schema = record.questions[call_id]
                    record.answers[call_id] = answer_of(response, schema)
                    record.is_answered = True
                    # The question interrupted its work, so what it gave before isn't its result.
                    record.output, record.gave, record.ended = None, False, False
                    record.settled_at = index


def _is_repeated(response: types.FunctionResponse, record: Record) -> bool:
    """Whether the question has its answer already; the result of a long-running call may change."""
    return response.id in record.answers and is_request(response.name)


def _gives(event: Event) -> bool:
    """Whether the event carries an output or a route."""
    speaks = event.node_info.message_as_output and event.content is not None
    return event.output is not None or bool(speaks) or event.actions.route is not None


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = parent_of(path)


# The state shared by all runs of an invocation's nodes (adk-runtime 12.3).


Counts = dict[str, Counter[str]]


@dataclass(slots=True, eq=False)
class Running:
    """How runs are numbered, where their events go, and what is known about earlier runs."""

    emit: Callable[[Event], Awaitable[None]]
    """Commits an event; returns once that is done."""
    run_child: Callable[..., Awaitable[Any]]
    """The implementation of `ctx.run_node()`, called with the run."""
    records: Records = field(default_factory=Records)
    """The runs read from the history when the invocation was resumed."""
    children: dict[str, asyncio.Task[NodeRun]] = field(default_factory=dict)
    """The runs started by `ctx.run_node()`, by path."""
    ends: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """Callbacks that send the ends of nodes without an output or a route; each is called once."""
    _telling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _counts: Counts = field(default_factory=dict)
    _orders: dict[str, RecordedOrder] = field(default_factory=dict)

    async def tell_ends(self) -> None:
        """Send the pending `ends`, before something continues that may be interrupted.

        Runs that start in parallel all wait for this, so that they continue in the order they
        started.
        """
        if self.ends or self._telling.locked():
            async with self._telling:
                while self.ends:
                    await self.ends.pop(0)()

    def order_below(self, path: str) -> RecordedOrder:
        """Return the order in which the runs started by a run's code had ended."""
        if path not in self._orders:
            self._orders[path] = RecordedOrder(self.records.ended_below(path))
        return self._orders[path]

    def next_id(self, parent: str, name: str) -> str:
        """Return the number of the next run of that node below the run at `parent`."""
        counts = self._counts.setdefault(parent, Counter())
        counts[name] += 1
        return str(counts[name])

    def counts_below(self, path: str) -> Counts:
        """Return the last numbers given out below a run."""
        return {each: Counter(self._counts[each]) for each in self._paths_below(path)}

    def recount(self, path: str, counts: Counts) -> None:
        """Continue the numbering of the runs below a run from these counts."""
        for each in self._paths_below(path):
            del self._counts[each]
        self._counts.update({each: Counter(count) for each, count in counts.items()})

    def forget_children(self, path: str) -> None:
        """Forget the runs below a run, and the order in which they ended."""
        for each in [each for each in self.children if is_below(each, path)]:
            del self.children[each]
        for each in [each for each in self._orders if each == path or is_below(each, path)]:
            del self._orders[each]

    def at_work(self, path: str) -> list[asyncio.Task[NodeRun]]:
        """Return the tasks of the runs below a run that haven't ended."""
        tasks = ((each, task) for each, task in self.children.items() if not task.done())
        return [task for each, task in tasks if is_below(each, path)]

    def _paths_below(self, path: str) -> list[str]:
        return [each for each in self._counts if each == path or is_below(each, path)]


def is_below(path: str, above: str) -> bool:
    """Whether a run is part of another."""
    return path.startswith(f"{above}/") if above else True


# The nodes that a tool runs, below the agent that called it (adk-runtime 8.8, 12.7).


def run_of_tool(ctx: InvocationContext, call_id: str | None, run_id: str | None) -> NodeRun | None:
    """Return the parent run for the nodes that a tool call runs; None if it can't emit events.

    A node whose run is named after the call is directly below the agent (adk-runtime 8.8). Others
    are below a path that names the call, since another call may run the same nodes: questions and
    results of one must not be mistaken for the other's (devui's own).
    """
    if ctx.emit is None or ctx.run_child is None:
        return None
    running = Running(ctx.emit, ctx.run_child)
    if ctx.has_begun:
        running.records = Records.of(ctx)
    return NodeRun(
        running=running,
        invocation=ctx.model_copy(update={"emit": None}),
        path=(ctx.node_path or "") if run_id == call_id else _place(ctx, call_id),
        scope=ctx.isolation_scope,
    )


def _place(ctx: InvocationContext, call_id: str | None) -> str:
    """Return the path of a call below the agent that made it."""
    path = ctx.node_path or ""
    if path.endswith(f"@{call_id}"):
        return path  # a generator, which reports its progress there
    calls = (call for event in reversed(ctx.session.events) for call in event.get_function_calls())
    name = next((call.name for call in calls if call.id == call_id), None)
    return path_below(path, name or "", call_id or "")
