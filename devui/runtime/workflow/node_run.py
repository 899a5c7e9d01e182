"""`NodeRun`: one run of a node, and what becomes of it (adk-runtime 12.3, 12.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from devui.runtime.events.event_actions import EventActions
from devui.runtime.workflow.replay import Done, Waiting

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.running import Running

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

    def take(self, verdict: Done | Waiting) -> None:
        """Note what the history tells of the run; nothing of it is told again."""
        self.output_told = True
        if isinstance(verdict, Done):
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
