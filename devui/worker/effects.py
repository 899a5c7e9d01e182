"""Notes on each event with tool calls what they do to the world, where a tool says it.

The server asks about calls of unknown outcome when the agent's code is perhaps not there any more,
so the note is in the journal with the call itself. It costs nothing where no tool is marked.
"""

from collections.abc import Mapping

from devui.runtime.agents.context import Context
from devui.runtime.events.event import Event
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.tools.base_tool import BaseTool
from devui.wire.gates import EFFECTS
from devui.worker.output import current_run


class Effects(BasePlugin):
    """Sees the tools that models are offered; comes first, so that no answer hides them."""

    def __init__(self) -> None:
        super().__init__("devui_effects")
        self._marks: dict[str, dict[tuple[str, str], str]] = {}
        """By run, then by agent and tool."""

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Learn which of the agent's tools are marked."""
        run = current_run.get()
        marks = _marks(llm_request.tools_dict)
        if run is not None and marks:
            agent = callback_context.agent_name
            known = self._marks.setdefault(run, {})
            known.update({(agent, tool): mark for tool, mark in marks.items()})

    def note(self, event: Event) -> None:
        """Note the marks of the event's calls on it."""
        marks = self._marks.get(current_run.get() or "")
        if not marks:
            return
        noted = {
            call.id: mark
            for call in event.get_function_calls()
            if call.id and (mark := marks.get((event.author, call.name or "")))
        }
        if noted:
            event.custom_metadata = {**(event.custom_metadata or {}), EFFECTS: noted}

    def forget(self, run: str) -> None:
        """The run is over."""
        self._marks.pop(run, None)


def _marks(tools: Mapping[str, BaseTool]) -> dict[str, str]:
    return {name: tool.effect for name, tool in tools.items() if tool.effect}
