"""`NodeRun`: one run of a node, and what becomes of it (adk-runtime 12.3, 12.4)."""

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

# Whether a run of an invocation that goes on is to be run, or has been (adk-runtime 12.6).


@dataclass(slots=True)
class Run:
    """It is to be run, perhaps with the answers to what it has asked."""

    answers: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Ended:
    """It has been run; this is what it gave."""

    output: Any = None
    route: Route | None = None


@dataclass(slots=True)
class Waiting:
    """It cannot go on before these questions have been answered."""

    interrupts: set[str]


Verdict = Run | Ended | Waiting

_PATIENCE = 1.0
"""Seconds until a run is given whose turn does not come: the code asks for others than before."""
_TURNS_OF_THE_LOOP = 5
"""How long code has for what one run gave, before the next is given: enough for `asyncio.wait`."""


class RecordedOrder:
    """The order in which the runs below a run had ended, and in which they are given again.

    So code that runs nodes side by side comes to the same results: the first is the first again.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are those of the runs, the first to end first."""
        self._remaining = dict.fromkeys(paths)
        self._turns: dict[str, asyncio.Event] = {}

    async def turn_of(self, path: str) -> None:
        """Wait until the runs that had ended before this one have been given.

        Code that takes another way now may never ask for them: after a while nobody waits for them.
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
        """Note that the code has got what the run gave, or that it is run again."""
        if path in self._remaining:
            del self._remaining[path]
            self._call()

    def _call(self) -> None:
        turn = self._turns.get(next(iter(self._remaining), ""))
        if turn is not None:
            turn.set()


def judged(node: BaseNode, record: Record | None) -> Verdict:
    """What is to be done about a run of the node, after what the history tells of it."""
    if record is None:
        return Run()
    if node.finds_its_way or (record.failed and not record.open):
        return Run(record.answers)
    if record.open:
        goes_on = node.rerun_on_resume and record.is_answered
        return Run(record.answers) if goes_on else Waiting(record.open)
    if record.gave:
        return Ended(_read(node, record.output), record.route)
    if record.answers and not node.rerun_on_resume:
        return Ended(_answer_output(record), record.route)
    if record.ended:
        return Ended(None, record.route)
    return Run(record.answers)


def _answer_output(record: Record) -> Any:
    """The output of a node that is not run again: the answer, or all of them by id."""
    answers = dict(record.answers)
    return next(iter(answers.values())) if len(answers) == 1 else answers


def _read(node: BaseNode, output: Any) -> Any:
    """An output that was told as a message, as a value."""
    if not isinstance(output, types.Content):
        return output
    return text_of(output).strip() or None


Route = bool | int | str | list[bool | int | str]


@dataclass(slots=True, eq=False, kw_only=True)
class NodeRun:
    """One run of a node: where it stands, what it was given, and what it gave.

    The top of all runs of an invocation has no node; its path is empty.
    """

    running: Running
    """What all runs of the invocation share."""
    invocation: InvocationContext
    """The invocation as this run sees it: with its branch and its path."""
    node: BaseNode | None = None
    parent: NodeRun | None = None
    path: str = ""
    """`wf@1/writer@2`: the run, below the runs that it is part of."""
    run_id: str = ""
    attempt: int = 1
    resume_inputs: dict[str, Any] = field(default_factory=dict)
    """The answers to what this run, or one below it, has asked, by interrupt id."""
    claimed_by: NodeRun | None = None
    """The run whose output the output of this one is, too."""
    state_schema: Any = None
    author: str = ""
    """Who signs the events; the node itself if empty."""
    scope: str | None = None
    """Marks the events of a delegated task."""

    context: Context | None = None
    """What the code of the node works with."""
    output: Any = None
    output_told: bool = False
    """Whether an event carries the output, of this run or of one whose output it is."""
    event_ids: list[str] = field(default_factory=list)
    """The events that it has sent, as its span tells."""
    claimant_chosen: bool = False
    """Whether the output is that of a node below, which tells it."""
    route: Route | None = None
    route_told: bool = True
    interrupts: set[str] = field(default_factory=set)
    """What is still to be answered."""
    waits: bool = False
    """Whether a node below has more to say before this one has ended, without having asked."""
    error: Exception | None = None
    error_path: str = ""

    @property
    def name(self) -> str:
        """The name of the node; empty at the top."""
        return self.node.name if self.node else ""

    @property
    def output_for(self) -> list[str]:
        """The paths of all runs whose output this run's output is."""
        above = self.claimed_by
        return [self.path, *(above.output_for if above else [])]

    @property
    def changes(self) -> EventActions:
        """What the node changed and no event carries yet."""
        return self.context.actions if self.context else EventActions()

    @property
    def has_result(self) -> bool:
        """Whether it gave an output or a route."""
        return self.output is not None or self.route is not None

    def give(self, output: Any) -> None:
        """Note the output.

        Raises:
            ValueError: the run has given one already.
        """
        if self.output is not None:
            raise ValueError(
                f"Node {self.name!r} gave a second output. A run gives one; put several values"
                " into a list, or run nodes of their own with ctx.run_node()."
            )
        self.output = output

    def take(self, verdict: Ended | Waiting) -> None:
        """Note what the history tells of the run; nothing of it is told again."""
        self.output_told = True
        if isinstance(verdict, Ended):
            self.output, self.route = verdict.output, verdict.route
        else:
            self.interrupts = set(verdict.interrupts)

    def fail(self, error: Exception, path: str) -> None:
        """Note why, and where, the run failed."""
        self.error, self.error_path = error, path


def path_below(parent: str, name: str, run_id: str) -> str:
    """The path of a run below another."""
    return f"{parent}/{name}@{run_id}" if parent else f"{name}@{run_id}"


def parent_of(path: str) -> str:
    """The path of the run that a run is part of; empty for a root."""
    return path.rpartition("/")[0]


# What the history tells of the runs of an invocation (resume seed; adk-runtime 12.6).


NODE_ENDED = "__adk_internal_node_ended"
"""Key of custom metadata: with this event the node ended, without output and route."""
NODE_ROUTE = "__adk_internal_node_route"
"""Key of custom metadata, on an event with an output: the route that the next event tells.

The run may be left, or killed, between the two; then it would go on another way, or nowhere.
"""


def only_says_that_a_node_ended(event: Event) -> bool:
    """Whether an event is there for the history alone: whoever runs the workflow learns nothing."""
    actions = event.actions
    return (
        bool((event.custom_metadata or {}).get(NODE_ENDED))
        and event.content is None
        and event.error_code is None
        and not (actions.state_delta or actions.artifact_delta)
    )


@dataclass(slots=True)
class Record:
    """What is known of one run."""

    output: Any = None
    route: Route | None = None
    gave: bool = False
    """Whether it gave an output or a route since it last asked something."""
    ended: bool = False
    """Whether it came to an end without output and route."""
    failed: bool = False
    """Whether its latest attempt failed."""
    questions: dict[str, Any] = field(default_factory=dict)
    """What it, or a run below it, has asked a human, by interrupt id; with the answer's schema."""
    answers: dict[str, Any] = field(default_factory=dict)
    is_answered: bool = False
    """Whether something was answered since it last told anything."""
    branch: str | None = None
    scope: str | None = None
    settled_at: int = 0
    """Where in the history it came to what it is now."""

    @property
    def open(self) -> set[str]:
        """What nobody has answered yet."""
        return self.questions.keys() - self.answers.keys()

    @property
    def has_ended(self) -> bool:
        """Whether it need not be run again, unless it takes the answers to its questions."""
        return not self.failed and not self.open and (self.gave or self.ended or bool(self.answers))


class Records:
    """The runs of one invocation by path, read from the events of the session."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._runs: dict[str, Record] = {}
        self._askers: dict[str, str] = {}
        """Who has put each question last: an id may be used again once it has been answered."""
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
        """What the session tells of the invocation.

        Raises:
            WorkflowDataError: an answer does not fit what was asked for.
        """
        return cls(ctx.history.events)

    def get(self, path: str) -> Record | None:
        """What is known of the run at that path; None if nothing."""
        return self._runs.get(path)

    def asker(self, interrupt: str) -> str | None:
        """The path of the run that waits for the answer with that id; None if nobody does."""
        path = self._askers.get(interrupt)
        return path if path and interrupt in self._runs[path].open else None

    def ended_below(self, path: str) -> list[str]:
        """The paths of the runs directly below that one that have ended, in that order."""
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
        if len(event.node_info.output_for or ()) < 2:  # else it may be told on another's branch
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
                    # It asked in the middle of its work: what it gave before is no result.
                    record.output, record.gave, record.ended = None, False, False
                    record.settled_at = index


def _is_repeated(response: types.FunctionResponse, record: Record) -> bool:
    """Whether the question has its answer; what is said of a call for a job may change."""
    return response.id in record.answers and is_request(response.name)


def _gives(event: Event) -> bool:
    """Whether the event carries an output or a route."""
    speaks = event.node_info.message_as_output and event.content is not None
    return event.output is not None or bool(speaks) or event.actions.route is not None


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = parent_of(path)


# What all runs of the nodes of one invocation share (adk-runtime 12.3).


Counts = dict[str, Counter[str]]


@dataclass(slots=True, eq=False)
class Running:
    """How runs are numbered, where their events go, and what is known of earlier runs."""

    emit: Callable[[Event], Awaitable[None]]
    """Commits an event; returns when that is done."""
    run_child: Callable[..., Awaitable[Any]]
    """What `ctx.run_node()` does, for a run."""
    records: Records = field(default_factory=Records)
    """What the history told when the invocation was resumed."""
    children: dict[str, asyncio.Task[NodeRun]] = field(default_factory=dict)
    """The runs begun by `ctx.run_node()`, by path."""
    ends: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """Tell that nodes have ended without output and route; each is to be called once."""
    _telling: asyncio.Lock = field(default_factory=asyncio.Lock)
    _counts: Counts = field(default_factory=dict)
    _orders: dict[str, RecordedOrder] = field(default_factory=dict)

    async def tell_ends(self) -> None:
        """Tell of the nodes that have ended: something goes on, and may be broken off.

        Runs that begin side by side all wait for it, so that they go on in the order they began.
        """
        if self.ends or self._telling.locked():
            async with self._telling:
                while self.ends:
                    await self.ends.pop(0)()

    def order_below(self, path: str) -> RecordedOrder:
        """In which order the runs that the code of a run has begun had ended."""
        if path not in self._orders:
            self._orders[path] = RecordedOrder(self.records.ended_below(path))
        return self._orders[path]

    def next_id(self, parent: str, name: str) -> str:
        """The number of the next run of that node below the run at `parent`."""
        counts = self._counts.setdefault(parent, Counter())
        counts[name] += 1
        return str(counts[name])

    def counts_below(self, path: str) -> Counts:
        """The numbers given so far below a run."""
        return {each: Counter(self._counts[each]) for each in self._paths_below(path)}

    def recount(self, path: str, counts: Counts) -> None:
        """Number the runs below a run anew, from these numbers on."""
        for each in self._paths_below(path):
            del self._counts[each]
        self._counts.update({each: Counter(count) for each, count in counts.items()})

    def forget_children(self, path: str) -> None:
        """Take the runs below a run for unknown."""
        for each in [each for each in self.children if is_below(each, path)]:
            del self.children[each]
        for each in [each for each in self._orders if each == path or is_below(each, path)]:
            del self._orders[each]

    def at_work(self, path: str) -> list[asyncio.Task[NodeRun]]:
        """The runs below a run that nobody has waited for to their end."""
        tasks = ((each, task) for each, task in self.children.items() if not task.done())
        return [task for each, task in tasks if is_below(each, path)]

    def _paths_below(self, path: str) -> list[str]:
        return [each for each in self._counts if each == path or is_below(each, path)]


def is_below(path: str, above: str) -> bool:
    """Whether a run is part of another."""
    return path.startswith(f"{above}/") if above else True


# The nodes that a tool runs, below the agent that has called it (adk-runtime 8.8, 12.7).


def run_of_tool(ctx: InvocationContext, call_id: str | None, run_id: str | None) -> NodeRun | None:
    """What the nodes of a call are run below; None where no tool is that may tell events.

    A node whose run is named after the call stands right below the agent (adk-runtime 8.8). Others
    have a place that names the call, since another call may run the same nodes: what one of them
    asks or has done must not be taken for the other's (devui's own).
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
    """The place of a call below the agent that made it."""
    path = ctx.node_path or ""
    if path.endswith(f"@{call_id}"):
        return path  # a generator's, which tells of its progress there
    calls = (call for event in reversed(ctx.session.events) for call in event.get_function_calls())
    name = next((call.name for call in calls if call.id == call_id), None)
    return path_below(path, name or "", call_id or "")
