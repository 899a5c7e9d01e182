"""What the history keeps of a node that failed (events seed; adk-runtime 12.4)."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from devui.runtime.agents.error_events import error_code, error_lines
from devui.runtime.events.event import Event

if TYPE_CHECKING:
    from devui.runtime.workflow.node_run import NodeRun

_OWN = Path(__file__).resolve().parents[1]
_STDLIB = Path(traceback.__file__).resolve().parent


def failure_event(run: NodeRun, error: Exception) -> Event:
    """The event that tells why, and where in the code and in the graph, a node failed."""
    lines = [*error_lines(error), f"Raised in node {run.path}{_where(error)}."]
    return Event(error_code=error_code(error), error_message="\n".join(filter(None, lines)))


def _where(error: BaseException) -> str:
    """The deepest line of code that is not the runtime's or a library's."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        library = "site-packages" in path.parts or path.is_relative_to(_STDLIB)
        if not library and not path.is_relative_to(_OWN):
            return f", at {path}:{frame.lineno} in {frame.name}()"
    return ""
