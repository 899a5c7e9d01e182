"""The tool by which a model hands the conversation to another agent."""

from typing import Any

from google.genai import types

from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.tool_context import ToolContext


def transfer_to_agent(agent_name: str, tool_context: ToolContext) -> None:
    """Hand the conversation over to another agent.

    Use it when another agent is better suited, by its description, to answer the user.

    Args:
        agent_name: The name of the agent that takes over.
    """
    tool_context.actions.transfer_to_agent = agent_name


class TransferToAgentTool(FunctionTool):
    """`transfer_to_agent` that tells the model which names are valid (adk-runtime 6.6)."""

    def __init__(self, agent_names: list[str]) -> None:
        """Allow transfers to these agents."""
        super().__init__(transfer_to_agent)
        self._agent_names = agent_names

    def _get_declaration(self) -> types.FunctionDeclaration:
        declaration = super()._get_declaration()
        schema: dict[str, Any] = {**(declaration.parameters_json_schema or {})}
        agent_name = {**schema["properties"]["agent_name"], "enum": self._agent_names}
        schema["properties"] = {**schema["properties"], "agent_name": agent_name}
        return declaration.model_copy(update={"parameters_json_schema": schema})
