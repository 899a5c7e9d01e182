"""What all runs of the nodes of one invocation share (adk-runtime 12.3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from devui.runtime.workflow.records import Records

if TYPE_CHECKING:
    from devui.runtime.events.event import Event
    from devui.runtime.workflow.node_run import NodeRun

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
    _counts: Counts = field(default_factory=dict)

    def next_id(self, parent: str, name: str) -> str:
        """The number of the next run of that node below the run at `parent`."""
        counts = self._counts.setdefault(parent, Counter())
        counts[name] += 1
        return str(counts[name])

    def counts_below(self, path: str) -> Counts:
        """The numbers given so far below a run."""
        return {each: Counter(self._counts[each]) for each in self._counted(path)}

    def recount(self, path: str, counts: Counts) -> None:
        """Number the runs below a run anew, from these numbers on."""
        for each in self._counted(path):
            del self._counts[each]
        self._counts.update({each: Counter(count) for each, count in counts.items()})

    def forget_children(self, path: str) -> None:
        """Take the runs below a run for unknown."""
        for each in [each for each in self.children if is_below(each, path)]:
            del self.children[each]

    def at_work(self, path: str) -> list[asyncio.Task[NodeRun]]:
        """The runs below a run that nobody has waited for to their end."""
        tasks = ((each, task) for each, task in self.children.items() if not task.done())
        return [task for each, task in tasks if is_below(each, path)]

    def _counted(self, path: str) -> list[str]:
        return [each for each in self._counts if each == path or is_below(each, path)]


def is_below(path: str, above: str) -> bool:
    """Whether a run is part of another."""
    return path.startswith(f"{above}/") if above else True
