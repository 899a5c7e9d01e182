"""The tool by which a model hands the conversation to another agent (adk-runtime 6.6)."""

from typing import Any

from google.genai import types

from devui.runtime.mistakes import given
from devui.runtime.tools.function_tool import FunctionTool
from devui.runtime.tools.tool_context import ToolContext

_REASON = "transfer_reason"


def transfer_to_agent(
    agent_name: str, tool_context: ToolContext, *, transfer_reason: str = ""
) -> dict[str, str] | None:
    """Hand the conversation over to another agent.

    Use it when another agent is better suited, by its description, to answer the user.

    Args:
        agent_name: The name of the agent that takes over.
        transfer_reason: Why that agent is to take over.
    """
    if agent_name is not None and not isinstance(agent_name, str):
        return {"error": f"`agent_name` is {given(agent_name)}; give the name of one agent."}
    tool_context.actions.transfer_to_agent = agent_name
    tool_context.actions.transfer_reason = transfer_reason or None
    return None


class TransferToAgentTool(FunctionTool):
    """`transfer_to_agent` that tells the model which names are valid (adk-runtime 6.6)."""

    def __init__(self, agent_names: list[str], include_transfer_reason: bool = False) -> None:
        """Allow transfers to these agents.

        Args:
            agent_names: Their names.
            include_transfer_reason: Let the model say why, in `actions.transfer_reason`.
        """
        super().__init__(transfer_to_agent)
        self._agent_names = agent_names
        self._include_transfer_reason = include_transfer_reason
        if not include_transfer_reason:
            # Without the parameter, the description must not speak of it either.
            self.description = self.description.partition(f"\n    {_REASON}:")[0]

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Hand over, or tell the model which names are valid if it has made one up."""
        name = args.get("agent_name")
        if isinstance(name, str) and name not in self._agent_names:
            valid = ", ".join(self._agent_names)
            return {"error": f"There is no agent {name!r} to hand over to. Valid names: {valid}."}
        return await super().run_async(args=args, tool_context=tool_context)

    def _get_declaration(self) -> types.FunctionDeclaration:
        declaration = super()._get_declaration()
        schema: dict[str, Any] = {**(declaration.parameters_json_schema or {})}
        properties = dict(schema["properties"])
        properties["agent_name"] = {**properties["agent_name"], "enum": self._agent_names}
        if not self._include_transfer_reason:
            del properties[_REASON]
        schema["properties"] = properties
        return declaration.model_copy(update={"parameters_json_schema": schema})
