"""Tools by which a model controls its run: exit, transfer, ask the user (adk-runtime 6.6, 8.4)."""

from typing import Any

from google.genai import types

from devui.runtime.mistakes import brief
from devui.runtime.tools.function_tool import FunctionTool, LongRunningFunctionTool
from devui.runtime.tools.tool_context import ToolContext

# The tool with which a model ends the loop it runs in (adk-runtime 8.8).


def exit_loop(tool_context: ToolContext) -> None:
    """End the loop. Call this only when your instructions say so."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True


# The tool with which a model lets the user choose (adk-runtime 8.4).


def get_user_choice(options: list[str], tool_context: ToolContext) -> str | None:
    """Show the options to the user, who chooses one.

    Args:
        options: What to choose from.
    """
    tool_context.actions.skip_summarization = True
    return None  # the user's choice comes later, as the function's response


get_user_choice_tool = LongRunningFunctionTool(get_user_choice)
"""Pauses the turn until the client sends the choice (adk-runtime 8.4)."""


# The tool with which a model asks the user a question and waits for it (adk-runtime 8.4).


def adk_request_input(message: str, response_schema: dict[str, Any] | None = None) -> None:
    """Put a question to the user and wait for the answer.

    Call it when something is unclear or missing and only the user can tell.

    Args:
        message: The question, as the user reads it.
        response_schema: The JSON schema of the answer: {"type": "string"} for any text,
            {"type": "boolean"} for yes or no, an object's schema for several values.
    """


request_input = LongRunningFunctionTool(adk_request_input)
"""Pauses the turn until the client sends the answer (adk-runtime 8.4)."""


# The tool with which a model transfers the conversation to another agent (adk-runtime 6.6).


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
        return {"error": f"`agent_name` is {brief(agent_name)}; give the name of one agent."}
    tool_context.actions.transfer_to_agent = agent_name
    tool_context.actions.transfer_reason = transfer_reason or None
    return None


class TransferToAgentTool(FunctionTool):
    """`transfer_to_agent`, with the valid names in its declaration (adk-runtime 6.6)."""

    def __init__(self, agent_names: list[str], include_transfer_reason: bool = False) -> None:
        """Allow transfers to these agents.

        Args:
            agent_names: The names of the agents.
            include_transfer_reason: Whether the model may give a reason, in
                `actions.transfer_reason`.
        """
        super().__init__(transfer_to_agent)
        self._agent_names = agent_names
        self._include_transfer_reason = include_transfer_reason
        if not include_transfer_reason:
            # Without the parameter, the description must not mention it either.
            self.description = self.description.partition(f"\n    {_REASON}:")[0]

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Transfer to the agent, or tell the model the valid names if it made one up."""
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
