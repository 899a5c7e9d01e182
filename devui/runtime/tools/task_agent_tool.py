"""A sub-agent that carries out tasks for its parent's model (adk-runtime 12.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devui.runtime.tools.agent_schemas import as_message, declared, misfit
from devui.runtime.tools.base_tool import BaseTool

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context

_NOTE = (
    "NOTE: This agent takes its time and may talk with the user. Call it alone; its result comes"
    " when it has finished."
)


class TaskAgentTool(BaseTool):
    """Gives a task to a sub-agent of mode `task`.

    The call stays open: the caller's run is broken off after the answer that makes it, the
    sub-agent works and talks with the user, and the caller goes on when the task is done.
    """

    defers_response = True

    def __init__(self, agent: BaseAgent) -> None:
        """Make a tool with the name and the description of the agent."""
        super().__init__(name=agent.name, description=f"{agent.description}\n\n{_NOTE}")
        self.agent = agent

    def _get_declaration(self) -> types.FunctionDeclaration:
        declaration = declared(self.agent, self.name)
        return declaration.model_copy(update={"description": self.description})

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """None if the arguments fit: the call stays open, and its caller's run ends."""
        try:
            as_message(self.agent, args)
        except ValueError as error:
            return misfit(error)
        return None
