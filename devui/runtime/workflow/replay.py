"""Whether a run of an invocation that goes on is to be run, or has been (adk-runtime 12.6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.workflow.values import text_of

if TYPE_CHECKING:
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import Route
    from devui.runtime.workflow.records import Record


@dataclass(slots=True)
class Run:
    """It is to be run, perhaps with the answers to what it has asked."""

    answers: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Done:
    """It has been run; this is what it gave."""

    output: Any = None
    route: Route | None = None


@dataclass(slots=True)
class Waiting:
    """It cannot go on before these questions have been answered."""

    interrupts: set[str]


Verdict = Run | Done | Waiting


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
        return Done(_read(node, record.output), record.route)
    if record.answers and not node.rerun_on_resume:
        return Done(_answered(record), record.route)
    if record.ended:
        return Done(None, record.route)
    return Run(record.answers)


def _answered(record: Record) -> Any:
    """The output of a node that is not run again: the answer, or all of them by id."""
    answers = dict(record.answers)
    return next(iter(answers.values())) if len(answers) == 1 else answers


def _read(node: BaseNode, output: Any) -> Any:
    """An output that was told as a message, as a value."""
    if not isinstance(output, types.Content):
        return output
    return text_of(output).strip() or None
