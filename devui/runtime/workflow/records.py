"""What the history tells of the runs of an invocation (resume seed; adk-runtime 12.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.open_calls import is_request
from devui.runtime.workflow.node_run import parent_of
from devui.runtime.workflow.requests import answer_of, asked_for

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.node_run import Route

NODE_ENDED = "__adk_internal_node_ended"
"""Key of custom metadata: with this event the node ended, without output and route."""
NODE_ROUTE = "__adk_internal_node_route"
"""Key of custom metadata, on an event with an output: the route that the next event tells.

The run may be left, or killed, between the two; then it would go on another way, or nowhere.
"""


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
    asked: dict[str, Any] = field(default_factory=dict)
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
        return self.asked.keys() - self.answers.keys()


class Records:
    """The runs of one invocation by path, read from the events of the session."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._runs: dict[str, Record] = {}
        self._askers: dict[str, str] = {}
        for index, event in enumerate(events):
            if event.author == "user":
                self._take_answers(index, event)
            elif event.node_info.path and not event.partial:
                self._take(index, event)

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
        return self._askers.get(interrupt)

    def _record(self, path: str) -> Record:
        return self._runs.setdefault(path, Record())

    def _take(self, index: int, event: Event) -> None:
        path = event.node_info.path
        record = self._record(path)
        record.scope = event.isolation_scope or record.scope
        asked = asked_for(event)
        self._askers.update(dict.fromkeys(asked, path))
        for owner in _upwards(path):
            above = self._record(owner)
            above.asked |= asked
            above.is_answered = False
            for interrupt in asked:
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
            self._askers.pop(response.id or "", None)
            for record in self._runs.values():
                if response.id in record.asked and not _is_repeated(response, record):
                    schema = record.asked[response.id]
                    record.answers[response.id] = answer_of(response, schema)
                    record.is_answered = True
                    # It asked in the middle of its work: what it gave before is no result.
                    record.output, record.gave, record.ended = None, False, False
                    record.settled_at = index


def _is_repeated(response: types.FunctionResponse, record: Record) -> bool:
    """Whether the question has its answer; what is said of a call for a job may change."""
    return response.id in record.answers and is_request(response.name)


def _gives(event: Event) -> bool:
    """Whether the event carries an output or a route."""
    said = event.node_info.message_as_output and event.content is not None
    return event.output is not None or bool(said) or event.actions.route is not None


def _upwards(path: str) -> Iterator[str]:
    while path:
        yield path
        path = parent_of(path)
