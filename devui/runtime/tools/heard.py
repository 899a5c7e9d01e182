"""What an agent said that runs inside a tool (adk-runtime 8.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from devui.runtime.tools.finish_task_tool import finishing_response

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event


@dataclass(slots=True)
class Heard:
    """The end of what came out of the run so far; fragments do not count."""

    content: types.Content | None = None
    error: str | None = None
    grounding: types.GroundingMetadata | None = None
    output: Any = None
    """What the agent finished its task with."""
    latest_output: Any = None
    """The output of the latest event that has one."""
    waiting: set[str] = field(default_factory=set)
    """Long-running calls that have no response yet."""

    def take(self, event: Event) -> None:
        """Take note of an event."""
        if event.partial:
            return
        if finishing_response(event) is not None:
            self.output = event.output
        if event.output is not None:
            self.latest_output = event.output
        self.error = event.error_message or self.error
        self.waiting |= event.long_running_tool_ids or set()
        if event.content is not None:
            self.content = event.content
            self.grounding = event.grounding_metadata
            self.waiting -= {response.id or "" for response in event.get_function_responses()}
